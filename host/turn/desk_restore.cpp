// What the owner asks of a desk's checkpoints while it may be in a turn, and the trash.
#include "host/gate/restore_report.hpp"
#include "host/turn/desk_impl.hpp"
#include "host/turn/owner_work.hpp"

namespace daybook {
namespace {

constexpr const char* kNoThread = "the desk is stopping, or the system gives it no thread";

}  // namespace

void Desk::Impl::add_between_calls(Task task) {
    bool dropped = true;
    const auto awake = thread.wake();
    {
        const std::lock_guard lock(work_mutex);
        if (!stopping && awake) {
            between_calls.push_back(task);
            dropped = false;
        }
    }
    if (dropped) {
        task.dropped();
        return;
    }
    // Served by whoever waits in the inbox: the thread itself, or a call that is out.
    inbox.post([this] { run_between_calls(); });
    wake_thread();
}

void Desk::Impl::run_between_calls() {
    while (true) {
        Task task;
        {
            const std::lock_guard lock(work_mutex);
            if (between_calls.empty()) {
                return;
            }
            task = std::move(between_calls.front());
            between_calls.pop_front();
        }
        task.work();
        tell_notices();
    }
}

void Desk::Impl::tell_notices() {
    for (const std::string& notice : stores.gate->take_notices()) {
        services.log(kLogWarn, notice + " desk=" + config.name);
        events.emit("notice", Json::object().set("text", notice));
    }
}

void Desk::Impl::tend_trash() {
    if (auto tended = stores.gate->tend_trash(); !tended) {
        services.log(kLogError, "trash: " + tended.error().message() + " desk=" + config.name);
    }
}

void Desk::restore(std::string checkpoint,
                   std::string file,
                   std::function<void(Result<Json>)> done) {
    Impl* impl = impl_.get();
    impl->add_between_calls(
        {[impl, checkpoint = std::move(checkpoint), file = std::move(file), done] {
             done(impl->guarded<Json>(
                 "restore", [&] { return restore_for_owner(impl->parts, checkpoint, file); }));
         },
         [done] { done(Error(Errc::unavailable, kNoThread)); }});
}

void Desk::undo_restore(std::function<void(Result<Json>)> done) {
    Impl* impl = impl_.get();
    impl->add_between_calls({[impl, done] {
                                 done(impl->guarded<Json>("undo a restore", [&] {
                                     return undo_restore_for_owner(impl->parts);
                                 }));
                             },
                             [done] { done(Error(Errc::unavailable, kNoThread)); }});
}

void Desk::note_edits(std::function<void(Result<Json>)> done) {
    Impl* impl = impl_.get();
    impl->add_between_calls({[impl, done] {
                                 done(impl->guarded<Json>("record edits", [&]() -> Result<Json> {
                                     WriteContext context;
                                     context.session = impl->stores.sessions->state().session;
                                     auto noted = impl->stores.gate->note_owner_edits(context);
                                     return noted ? Result<Json>(
                                                        Json::object().set("checkpoint", *noted))
                                                  : Result<Json>(noted.error());
                                 }));
                             },
                             [done] { done(Error(Errc::unavailable, kNoThread)); }});
}

void Desk::empty_trash(std::function<void(Result<Json>)> done) {
    Impl* impl = impl_.get();
    impl->add_between_calls({[impl, done] {
                                 done(impl->guarded<Json>("empty the trash", [&]() -> Result<Json> {
                                     auto emptied = impl->stores.gate->empty_trash();
                                     if (!emptied) {
                                         return emptied.error();
                                     }
                                     return Json::object()
                                         .set("files", emptied->files)
                                         .set("bytes", static_cast<std::int64_t>(emptied->bytes));
                                 }));
                             },
                             [done] { done(Error(Errc::unavailable, kNoThread)); }});
}

Result<Json> Desk::trash() const {
    const DeskStores& stores = impl_->stores;
    auto kept = Trash(impl_->services.os, impl_->services.clock, stores.places()).list();
    return kept ? trash_json(*kept) : Result<Json>(kept.error());
}

}  // namespace daybook
