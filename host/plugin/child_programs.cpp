#include "host/plugin/child_programs.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <system_error>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

Result<> make_folder(const fs::path& path) {
    struct stat at = {};
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        return Error(Errc::io,
                     "make " + path.string() + ": " + std::generic_category().message(errno));
    }
    if (::lstat(path.c_str(), &at) != 0 || !S_ISDIR(at.st_mode)) {
        return Error(Errc::refused, path.string() + " is no folder: remove it");
    }
    return {};
}

/// The owner's program, as it lies there: what everybody may change is nobody's word.
Result<> check_program(const ProgramConfig& program) {
    const std::string what = "program " + program.name + " (" + program.path.string() + "): ";
    struct stat at = {};
    if (::stat(program.path.c_str(), &at) != 0) {
        return Error(Errc::refused, what + std::generic_category().message(errno));
    }
    if (!S_ISREG(at.st_mode)) {
        return Error(Errc::refused, what + "no file");
    }
    if ((at.st_mode & S_IWOTH) != 0) {
        return Error(Errc::refused, what + "everybody may change it; take that away (chmod o-w)");
    }
    return {};
}

}  // namespace

struct ChildPrograms::Shared {
    mutable std::mutex mutex;  // guards entries
    std::map<Key, Entry> entries;
};

ChildPrograms::ChildPrograms(IoLoop& loop, ChildrenSettings settings)
    : loop_(loop), settings_(std::move(settings)), shared_(std::make_shared<Shared>()) {}

ChildPrograms::~ChildPrograms() {
    clear();
}

ChildPrograms::Attachment::~Attachment() {
    if (program_ != nullptr && owner_ != nullptr) {
        owner_->release(key_, program_.get());
    }
}

ChildPrograms::Attachment::Attachment(Attachment&& other) noexcept
    : is_fresh(other.is_fresh),
      owner_(other.owner_),
      key_(std::move(other.key_)),
      program_(std::exchange(other.program_, nullptr)) {}

ChildPrograms::Attachment& ChildPrograms::Attachment::operator=(Attachment&& other) noexcept {
    std::swap(is_fresh, other.is_fresh);
    std::swap(owner_, other.owner_);
    std::swap(key_, other.key_);
    std::swap(program_, other.program_);
    return *this;
}

Result<fs::path> ChildPrograms::prepare_folder(const std::string& plugin,
                                               const std::string& program) const {
    ScratchFolder scratch(settings_.home, plugin, settings_.desk, settings_.bounds);
    if (auto prepared = scratch.prepare(); !prepared) {
        return prepared.error();
    } else if (!prepared->empty() && settings_.on_log) {
        settings_.on_log(plugin, 2, *prepared);
    }
    const fs::path all = scratch.path() / "child";
    for (const fs::path& folder : {all, all / program}) {
        if (auto made = make_folder(folder); !made) {
            return made.error();
        }
    }
    return all / program;
}

Result<std::shared_ptr<ChildProgram>> ChildPrograms::start(const std::string& plugin,
                                                           const ProgramConfig& program,
                                                           const Ask& ask) {
    if (auto checked = check_program(program); !checked) {
        return checked.error();
    }
    auto folder = prepare_folder(plugin, program.name);
    if (!folder) {
        return folder.error();
    }
    ChildSettings settings = settings_.child;
    settings.state_dir = *folder;
    settings.file_max_bytes = settings_.bounds.max_bytes;
    ChildEvents events;
    events.on_log = [on_log = settings_.on_log, plugin, name = program.name](
                        int level, const std::string& line) {
        if (on_log) {
            on_log(plugin, level, name + ": " + line);
        }
    };
    events.on_lifecycle = [on_lifecycle = settings_.on_lifecycle, plugin](
                              const std::string& what, const ChildStatus& status) {
        if (on_lifecycle) {
            on_lifecycle(plugin, what, status);
        }
    };
    auto started = ChildProgram::start(
        loop_, program, settings, ask.arguments, ask.environment, std::move(events), ++generation_);
    if (!started) {
        return started.error();
    }
    return std::shared_ptr<ChildProgram>(std::move(*started));
}

Result<ChildPrograms::Attachment> ChildPrograms::attach(const std::string& plugin,
                                                        const ProgramConfig& program,
                                                        const Ask& ask) {
    Attachment attachment;
    attachment.key_ = {plugin, program.name};
    Entry old;
    if (!ask.own) {
        const std::lock_guard lock(shared_->mutex);
        Entry& entry = shared_->entries[attachment.key_];
        const bool runs = entry.program != nullptr && !entry.program->end() && !entry.is_stopping;
        // What the owner has changed since holds from now on.
        const bool is_anew = ask.fresh || (runs && entry.config != program);
        if (runs && is_anew && entry.users > 0) {
            return Error(Errc::busy, "program " + program.name + ": another call uses it");
        }
        if (runs && !is_anew) {
            ++entry.users;
            attachment.owner_ = this;
            attachment.program_ = entry.program;
            return attachment;
        }
        std::swap(old, entry);  // ended below, without the mutex
    }
    old = Entry();
    auto started = start(plugin, program, ask);
    if (!started) {
        return started.error();
    }
    attachment.is_fresh = true;
    attachment.program_ = std::move(*started);
    if (!ask.own) {
        attachment.owner_ = this;
        const std::lock_guard lock(shared_->mutex);
        Entry& entry = shared_->entries[attachment.key_];
        entry.program = attachment.program_;
        entry.config = program;
        entry.users = 1;
    }
    return attachment;
}

void ChildPrograms::release(const Key& key, const ChildProgram* program) {
    std::unique_ptr<Watch> former;  // goes behind the lock: its callback may wait for that
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->entries.find(key);
    // Another may have taken the place of one that had ended.
    if (found == shared_->entries.end() || found->second.program.get() != program ||
        --found->second.users > 0) {
        return;
    }
    std::swap(former, found->second.idle_timer);
    found->second.idle_timer =
        loop_.after(found->second.config.idle, [weak = std::weak_ptr(shared_), key] {
            const auto shared = weak.lock();
            if (!shared) {
                return;
            }
            const std::lock_guard guard(shared->mutex);
            const auto entry = shared->entries.find(key);
            if (entry != shared->entries.end() && entry->second.users == 0 &&
                entry->second.program) {
                entry->second.is_stopping = true;
                entry->second.program->stop();
            }
        });
}

std::vector<std::pair<std::string, ChildStatus>> ChildPrograms::statuses() const {
    const std::lock_guard lock(shared_->mutex);
    std::vector<std::pair<std::string, ChildStatus>> all;
    for (const auto& [key, entry] : shared_->entries) {
        if (entry.program != nullptr) {
            all.emplace_back(key.first, entry.program->status());
        }
    }
    return all;
}

void ChildPrograms::clear() {
    std::map<Key, Entry> ended;
    {
        const std::lock_guard lock(shared_->mutex);
        ended.swap(shared_->entries);
    }
}

}  // namespace daybook
