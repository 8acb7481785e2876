// From the spawn to the first call: socket pair, process, ready, descriptor check, open.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <utility>
#include <vector>

#include <daybook/version.h>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/runner_impl.hpp"

namespace daybook {
namespace {

using channel::MessageType;

std::string_view flag_of(Isolation isolation) {
    switch (isolation) {
        case Isolation::required:
            return "required";
        case Isolation::seccomp_only:
            return "seccomp-only";
        case Isolation::off:
            return "off";
    }
    return "required";
}

/// The value with the members of its objects sorted and without those that are null, empty or 0, so
/// that "not there" and "the default" are equal.
Json canonical(const Json& value) {
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json& item : value.items()) {
            out.push(canonical(item));
        }
        return out;
    }
    if (!value.is_object()) {
        return value;
    }
    std::vector<Json::Member> members;
    for (const auto& [name, member] : value.members()) {
        Json inner = canonical(member);
        const bool is_empty = inner.is_null() || (inner.is_array() && inner.items().empty()) ||
                              (inner.is_object() && inner.members().empty()) ||
                              (inner.is_string() && inner.as_string().empty()) || inner == Json(0);
        if (!is_empty) {
            members.emplace_back(name, std::move(inner));
        }
    }
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    return Json::object(std::move(members));
}

bool is_same(const Json& a, const Json& b) {
    const auto is_nothing = [](const Json& value) {
        return value.is_null() || (value.is_array() && value.items().empty()) || value == Json(0);
    };
    return (is_nothing(a) && is_nothing(b)) || canonical(a) == canonical(b);
}

}  // namespace

void RunnerProcess::Impl::start() {
    phase = Phase::starting;
    assembler = {};
    output = {};
    at_eof = false;
    refusal.reset();
    stop_asked = false;
    noise_full = false;
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        start_unspawned(
            Error(Errc::io, "make its channel: " + std::generic_category().message(errno)));
        return;
    }
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    spawned_at = std::chrono::steady_clock::now();
    auto spawned = ChildProcess::spawn(spawn_request(theirs.get()));
    if (!spawned) {
        start_unspawned(spawned.error());
        return;
    }
    child = std::move(*spawned);
    {
        const std::lock_guard guard(mutex);
        socket = std::move(ours);
        send_queue.clear();
        queued_bytes = 0;
        queued_messages = 0;
        write_watch_asked = false;
        backlog_full = false;  // the counts go on: what an earlier process sent may still wait
        status.pid = child->pid();
    }
    watch_child();
}

SpawnRequest RunnerProcess::Impl::spawn_request(int channel_fd) const {
    SpawnRequest request;
    request.program = settings.program.string();
    request.channel = channel_fd;
    request.arguments = {"--module",
                         plugin.module.string(),
                         "--desk-dir",
                         settings.desk_dir.string(),
                         "--plugin",
                         plugin.config.name,
                         "--desk",
                         settings.desk,
                         "--profile",
                         plugin.manifest.profile,
                         "--isolation",
                         std::string(flag_of(settings.isolation))};
    for (const auto& folder : settings.reads) {
        request.arguments.insert(request.arguments.end(), {"--read", folder.string()});
    }
    if (!settings.probe_file.empty()) {
        request.arguments.insert(request.arguments.end(),
                                 {"--probe-file", settings.probe_file.string()});
    }
    if (!settings.scratch_dir.empty()) {
        request.arguments.insert(request.arguments.end(),
                                 {"--scratch-dir",
                                  settings.scratch_dir.string(),
                                  "--scratch-max",
                                  std::to_string(settings.scratch_max_bytes)});
    }
    if (settings.landlock_cap > 0) {
        request.arguments.insert(request.arguments.end(),
                                 {"--landlock-cap", std::to_string(settings.landlock_cap)});
    }
    request.environment = {
        "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=" + settings.zone, "MALLOC_ARENA_MAX=2"};
    if (!settings.scratch_dir.empty()) {
        // SQLite picks its folder for temporary files by access(), which the walls do not answer.
        request.environment.push_back("TMPDIR=" + settings.scratch_dir.string());
        request.environment.push_back("SQLITE_TMPDIR=" + settings.scratch_dir.string());
    }
#ifdef DAYBOOK_UNDER_SANITIZER
    request.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");
#endif
    return request;
}

void RunnerProcess::Impl::watch_child() {
    const auto guarded = [this](void (Impl::*task)()) {
        // Weak: a watch is a member, so a strong pointer would keep itself alive.
        return [weak = weak_from_this(), task] {
            const auto self = weak.lock();
            if (!self) {
                return;
            }
            const std::lock_guard io(self->io_mutex);
            if (!self->closed) {
                (self.get()->*task)();
            }
        };
    };
    int fd = -1;
    {
        const std::lock_guard guard(mutex);
        fd = socket.get();
    }
    read_watch = loop.watch(fd, IoLoop::Ready::read, guarded(&Impl::on_readable));
    exit_watch = loop.watch(child->pidfd(), IoLoop::Ready::read, guarded(&Impl::on_exit));
    output_watch = loop.watch(child->output(), IoLoop::Ready::read, guarded(&Impl::on_output));
    start_timer = loop.after(settings.start_timeout, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const std::lock_guard io(self->io_mutex);
            if (!self->closed &&
                (self->phase == Phase::starting || self->phase == Phase::opening)) {
                self->kill_now(Error(Errc::deadline,
                                     "not ready after " +
                                         std::to_string(self->settings.start_timeout.count()) +
                                         " ms"));
            }
        }
    });
}

/// No process came to be.
void RunnerProcess::Impl::start_unspawned(const Error& error) {
    phase = Phase::none;
    std::string lifecycle = "start_failed";
    {
        const std::lock_guard guard(mutex);
        if (error.code() == Errc::not_found) {
            status.state = RunnerState::refused;
            status.reason = who + ": " + error.message() + "; install it beside daybookd";
            start_error = Error(Errc::refused, status.reason);
        } else {
            crashed_locked(std::chrono::steady_clock::now(), error.message(), lifecycle);
            start_error = Error(Errc::unavailable, who + ": " + error.message());
        }
        ++failed_starts;
    }
    tell(lifecycle);
    wake_desk();
}

void RunnerProcess::Impl::on_ready(const channel::Message& message) {
    channel::FieldReader fields(message.payload);
    const auto walls = fields.next();
    const auto descriptor = fields.next();
    if (!walls || !descriptor || !fields.at_end() || phase != Phase::starting) {
        protocol_fault("a ready message that is malformed or out of turn");
        return;
    }
    const auto walls_json = Json::parse(*walls);
    if (!walls_json || !walls_json->is_object()) {
        protocol_fault("walls that are not a JSON object");
        return;
    }
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - spawned_at;
    {
        const std::lock_guard guard(mutex);
        status.walls = walls_json->dump();
        status.start_milliseconds = took.count();
    }
    if (const std::string mismatch = descriptor_mismatch(*descriptor); !mismatch.empty()) {
        refuse_start(mismatch);
        return;
    }
    phase = Phase::opening;
    channel::FieldWriter open;
    open.add(settings.config_json)
        .add(settings.desk)
        .add(DAYBOOK_VERSION_STRING)
        .add(plugin.manifest.profile);
    if (auto sent = queue_message({MessageType::open, 0, open.take()}); !sent) {
        kill_now(Error(Errc::internal, "open: " + sent.error().message()));
    }
}

std::string RunnerProcess::Impl::descriptor_mismatch(std::string_view descriptor_text) const {
    const std::string what =
        who + " " + plugin.manifest.version + " (" + plugin.file.string() + "): ";
    JsonLimits limits;
    limits.max_bytes = 1024UL * 1024;  // this runs on the I/O thread, and nobody vouches for it yet
    const auto descriptor = Json::parse(descriptor_text, limits);
    if (!descriptor || !descriptor->is_object()) {
        return what + "its descriptor is not a JSON object";
    }
    std::string differing;
    for (const char* member :
         {"name", "version", "abi", "min_host_minor", "tools", "models", "skills"}) {
        if (!is_same((*descriptor)[member], plugin.manifest.json[member])) {
            differing += differing.empty() ? member : std::string(", ") + member;
        }
    }
    if (differing.empty()) {
        return {};
    }
    return what + "its descriptor and its manifest note differ in " + differing +
           "; the note is what the host judges a plugin by, so both must say the same: rebuild it "
           "with DAYBOOK_PLUGIN";
}

void RunnerProcess::Impl::on_start_failed(const channel::Message& message) {
    channel::FieldReader fields(message.payload);
    const auto step = fields.next();
    const auto code = fields.next_number();
    const auto reason = fields.next();
    if (!step || !code || !reason || (phase != Phase::starting && phase != Phase::opening)) {
        protocol_fault("a start_failed message that is malformed or out of turn");
        return;
    }
    std::string text = printable(*reason, 2000);
    // The runner knows the copy; people know the file.
    if (const std::size_t at = text.find(plugin.module.string()); at != std::string::npos) {
        text.replace(at, plugin.module.string().size(), plugin.file.string());
    }
    const bool names_itself = text.starts_with("plugin \"");
    refuse_start(names_itself ? text
                              : who + " (" + plugin.file.string() + "): start step " +
                                    printable(*step, 40) + ": " + text);
}

/// The process is ended; on_exit() makes the refusal known.
void RunnerProcess::Impl::refuse_start(std::string reason) {
    refusal = Error(Errc::refused, std::move(reason));
    kill_child();
}

void RunnerProcess::Impl::on_opened() {
    if (phase != Phase::opening) {
        protocol_fault("an opened message out of turn");
        return;
    }
    phase = Phase::serving;
    start_timer.reset();
    {
        const std::lock_guard guard(mutex);
        status.state = RunnerState::ready;
        last_activity = std::chrono::steady_clock::now();
    }
    check_idle();
    tell("started");
    wake_desk();
}

}  // namespace daybook
