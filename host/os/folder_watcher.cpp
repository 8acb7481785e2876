// Watches are kept in one map from the kernel's number to root and folder. The I/O thread reads
// events and tells; all walking through folders is done by whoever calls renew().
#include "host/os/folder_watcher.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>

#include "host/os/unique_fd.hpp"

namespace daybook {
namespace {

constexpr std::uint32_t kEvents = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE |
                                  IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr int kMaxDepth = 16;
constexpr std::size_t kBuffer = 64UL * 1024;
constexpr int kReadsAtOnce = 16;  // then other work of the loop has its turn

std::string reason_of(int error) {
    if (error == ENOSPC) {
        return "the system's limit of inotify watches is reached (fs.inotify.max_user_watches)";
    }
    if (error == EMFILE || error == ENFILE) {
        return "the system's limit of inotify instances or of open files is reached "
               "(fs.inotify.max_user_instances)";
    }
    return std::string("inotify: ") + std::strerror(error);
}

}  // namespace

struct FolderWatcher::Impl {
    /// A root that somebody watches. `told` goes, under its mutex, with the watch.
    struct Listener {
        std::mutex mutex;  // guards told; held while it is called
        Told told;
        std::string reason;  ///< guarded by Impl::mutex
    };
    struct Folder {
        std::shared_ptr<Listener> listener;
        std::string path;  ///< relative to the root; "" = the root itself
    };

    Impl(IoLoop& loop, Bounds bounds_) : bounds(bounds_) {
        inotify = UniqueFd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
        if (!inotify) {
            unavailable = reason_of(errno);
            return;
        }
        ready = loop.watch(inotify.get(), IoLoop::Ready::read, [this] { read_events(); });
    }

    void read_events();
    void handle(const inotify_event& event, const std::string& name);
    static void tell(const std::shared_ptr<Listener>& listener, const FolderEvent& event);

    const Bounds bounds;
    UniqueFd inotify;
    std::string unavailable;
    mutable std::mutex mutex;  // guards all below; nothing is told under it
    std::map<int, Folder> folders;
    std::set<std::shared_ptr<Listener>> listeners;
    std::uint64_t overflows = 0;
    std::unique_ptr<Watch> ready;  // last: its callback uses the others
};

void FolderWatcher::Impl::tell(const std::shared_ptr<Listener>& listener,
                               const FolderEvent& event) {
    const std::lock_guard guard(listener->mutex);
    if (listener->told) {
        listener->told(event);
    }
}

void FolderWatcher::Impl::read_events() {
    alignas(inotify_event) std::array<char, kBuffer> buffer{};
    for (int i = 0; i < kReadsAtOnce; ++i) {
        const ssize_t got = ::read(inotify.get(), buffer.data(), buffer.size());
        if (got <= 0) {
            return;
        }
        std::size_t at = 0;
        while (at + sizeof(inotify_event) <= static_cast<std::size_t>(got)) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            const char* name = buffer.data() + at + sizeof event;
            handle(event, event.len == 0 ? "" : std::string(name, ::strnlen(name, event.len)));
            at += sizeof event + event.len;
        }
    }
}

void FolderWatcher::Impl::handle(const inotify_event& event, const std::string& name) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
        std::set<std::shared_ptr<Listener>> all;
        {
            const std::lock_guard guard(mutex);
            ++overflows;
            all = listeners;
        }
        for (const auto& listener : all) {
            tell(listener, FolderEvent{{}, true, false, false});
        }
        return;
    }
    Folder folder;
    {
        const std::lock_guard guard(mutex);
        const auto found = folders.find(event.wd);
        if (found == folders.end()) {
            return;
        }
        folder = found->second;
        if ((event.mask & IN_IGNORED) != 0) {
            folders.erase(found);  // the folder is gone, and the kernel's number with it
        }
    }
    FolderEvent told;
    const std::uint32_t of_folders =
        IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT | IN_ISDIR;
    if ((event.mask & of_folders) != 0 || name.empty()) {
        told.everything = true;
    } else {
        told.path = folder.path.empty() ? name : folder.path + "/" + name;
        // A new file is made by whoever writes it: its first close tells that it is whole. One that
        // is linked or renamed into place was closed before.
        told.is_open = (event.mask & IN_MODIFY) != 0;
        told.mode = (event.mask & IN_ATTRIB) != 0;
    }
    tell(folder.listener, told);
}

class FolderWatcher::Watched final : public FolderWatcher::Root {
  public:
    Watched(std::shared_ptr<Impl> impl, Os& os, int root, std::vector<std::string> below, Told told)
        : impl_(std::move(impl)), os_(os), root_(root), below_(std::move(below)) {
        listener_->told = std::move(told);
        const std::lock_guard guard(impl_->mutex);
        impl_->listeners.insert(listener_);
        listener_->reason = impl_->unavailable;
    }
    ~Watched() override {
        {
            const std::lock_guard guard(listener_->mutex);
            listener_->told = nullptr;
        }
        keep_only({});
        const std::lock_guard guard(impl_->mutex);
        impl_->listeners.erase(listener_);
    }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    Watched(Watched&&) = delete;
    Watched& operator=(Watched&&) = delete;

    Result<> renew() override {
        if (!impl_->inotify) {
            return Error(Errc::unavailable, impl_->unavailable);
        }
        std::set<int> seen;
        failure_.reset();
        static_cast<void>(add("", seen));
        for (const std::string& name : below_) {
            walk(name, 0, seen);
        }
        keep_only(seen);
        const std::lock_guard guard(impl_->mutex);
        listener_->reason = failure_ ? failure_->message() : "";
        return failure_ ? Result<>(*failure_) : Result<>();
    }

  private:
    /// False: there is no such folder, or it is not watched.
    bool add(const std::string& path, std::set<int>& seen) {
        UniqueFd opened;
        if (!path.empty()) {
            auto folder = os_.open_beneath(root_, path, OpenMode::directory);
            if (!folder) {
                const Errc code = folder.error().code();
                if (code != Errc::not_found && code != Errc::refused) {
                    failure_ = folder.error();
                }
                return false;
            }
            opened = std::move(*folder);
        }
        const std::lock_guard guard(impl_->mutex);
        // What is watched already stays so; only what is new counts against the bounds.
        if (seen.size() >= impl_->bounds.each) {
            failure_ = Error(Errc::full,
                             "more than " + std::to_string(impl_->bounds.each) +
                                 " folders in one desk: the others are not watched");
            return false;
        }
        const std::string name =
            "/proc/self/fd/" + std::to_string(path.empty() ? root_ : opened.get());
        const int watch = ::inotify_add_watch(
            impl_->inotify.get(), name.c_str(), kEvents | IN_ONLYDIR | IN_EXCL_UNLINK);
        if (watch < 0) {
            failure_ = Error(errno == ENOSPC ? Errc::full : Errc::io, reason_of(errno));
            return false;
        }
        const auto found = impl_->folders.find(watch);
        if (found == impl_->folders.end() && impl_->folders.size() >= impl_->bounds.folders) {
            ::inotify_rm_watch(impl_->inotify.get(), watch);
            failure_ = Error(Errc::full,
                             "more than " + std::to_string(impl_->bounds.folders) +
                                 " folders in all: the others are not watched");
            return false;
        }
        if (found != impl_->folders.end() && found->second.listener != listener_) {
            return false;  // one folder below two roots: the first has it
        }
        impl_->folders[watch] = {listener_, path};
        seen.insert(watch);
        return true;
    }

    void walk(const std::string& path, int depth, std::set<int>& seen) {
        if (depth > kMaxDepth || !add(path, seen)) {
            return;
        }
        auto entries = os_.list(root_, path);
        if (!entries) {
            if (entries.error().code() != Errc::not_found) {
                failure_ = entries.error();
            }
            return;
        }
        for (const DirectoryEntry& entry : *entries) {
            if (entry.is_directory) {
                walk(path + "/" + entry.name, depth + 1, seen);
            }
        }
    }

    void keep_only(const std::set<int>& seen) {
        const std::lock_guard guard(impl_->mutex);
        for (auto at = impl_->folders.begin(); at != impl_->folders.end();) {
            if (at->second.listener == listener_ && !seen.contains(at->first)) {
                ::inotify_rm_watch(impl_->inotify.get(), at->first);
                at = impl_->folders.erase(at);
            } else {
                ++at;
            }
        }
    }

    const std::shared_ptr<Impl> impl_;
    Os& os_;
    const int root_;
    const std::vector<std::string> below_;
    const std::shared_ptr<Impl::Listener> listener_ = std::make_shared<Impl::Listener>();
    std::optional<Error> failure_;
};

FolderWatcher::FolderWatcher(IoLoop& loop, Bounds bounds)
    : impl_(std::make_shared<Impl>(loop, bounds)) {}

FolderWatcher::~FolderWatcher() {
    impl_->ready.reset();
}

std::unique_ptr<FolderWatcher::Root> FolderWatcher::watch(Os& os,
                                                          int root,
                                                          std::vector<std::string> below,
                                                          Told told) {
    return std::make_unique<Watched>(impl_, os, root, std::move(below), std::move(told));
}

FolderWatcher::Status FolderWatcher::status() const {
    const std::lock_guard guard(impl_->mutex);
    Status status;
    status.roots = impl_->listeners.size();
    status.folders = impl_->folders.size();
    status.overflows = impl_->overflows;
    status.reason = impl_->unavailable;
    for (const auto& listener : impl_->listeners) {
        if (status.reason.empty()) {
            status.reason = listener->reason;
        }
    }
    return status;
}

}  // namespace daybook
