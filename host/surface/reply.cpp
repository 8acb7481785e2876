#include "host/surface/reply.hpp"

#include <utility>

namespace daybook {

Json error_json(const Error& error) {
    return Json::object()
        .set("code", name_of(error.code()))
        .set("message", error.message())
        .set("exit", exit_code_of(error.code()))
        .set("retryable", is_retryable(error.code()));
}

std::string error_line(const Json& id, const Error& error) {
    return Json::object().set("id", id).set("ok", false).set("error", error_json(error)).dump();
}

Reply::Reply(Json id, Send send) : id_(std::move(id)), send_(std::move(send)) {}

Reply::~Reply() {
    if (!is_over()) {
        done(Error(Errc::cancelled, "the request was dropped before it had an outcome"));
    }
}

void Reply::event(const Json& event) {
    if (is_over()) {
        return;
    }
    Json line = Json::object().set("id", id_);
    for (const auto& [key, value] : event.members()) {
        line.set(key, value);
    }
    send_(line.dump(), /*last=*/false);
}

void Reply::done(Result<Json> outcome) {
    std::function<void()> forgotten;
    if (!close(&forgotten)) {
        return;
    }
    if (!outcome) {
        send_(error_line(id_, outcome.error()), /*last=*/true);
        return;
    }
    send_(Json::object().set("id", id_).set("ok", true).set("result", std::move(*outcome)).dump(),
          /*last=*/true);
}

void Reply::on_gone(std::function<void()> hook) {
    {
        const std::lock_guard guard(mutex_);
        if (!over_) {
            hook_ = std::move(hook);
            return;
        }
        if (!gone_) {
            return;
        }
    }
    hook();
}

void Reply::abandon() {
    std::function<void()> hook;
    {
        const std::lock_guard guard(mutex_);
        if (over_) {
            return;
        }
        over_ = true;
        gone_ = true;
        hook.swap(hook_);
    }
    if (hook) {
        hook();
    }
}

bool Reply::is_over() const {
    const std::lock_guard guard(mutex_);
    return over_;
}

/// Ends the reply; the hook goes to the caller, who lets it go outside the lock. False: it had
/// ended before.
bool Reply::close(std::function<void()>* hook) {
    const std::lock_guard guard(mutex_);
    if (over_) {
        return false;
    }
    over_ = true;
    hook->swap(hook_);
    return true;
}

}  // namespace daybook
