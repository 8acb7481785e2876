#include "host/plugin/child_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "host/os/desk_path.hpp"
#include "host/plugin/child_impl.hpp"

namespace daybook {
namespace {

struct Pipe {
    UniqueFd ours, theirs;
};

/// One that the child reads (`ours` writes) or writes. Only our end does not block.
Result<Pipe> make_pipe(bool child_reads) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error(Errc::io, "make a pipe: " + std::generic_category().message(errno));
    }
    Pipe pipe{UniqueFd(ends[child_reads ? 1 : 0]), UniqueFd(ends[child_reads ? 0 : 1])};
    if (::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK) != 0) {
        return Error(Errc::io, "prepare a pipe: " + std::generic_category().message(errno));
    }
    return pipe;
}

std::vector<std::string> words_of(const ProgramConfig& program,
                                  const ChildSettings& settings,
                                  const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"--child",
                                   "--state",
                                   settings.state_dir.string(),
                                   "--probe-file",
                                   settings.probe_file.string(),
                                   "--file-max",
                                   std::to_string(settings.file_max_bytes),
                                   "--isolation",
                                   std::string(name_of(settings.isolation))};
    const auto add = [&](const char* option, const std::string& value) {
        words.insert(words.end(), {option, value});
    };
    for (const auto& path : program.reads) {
        add("--read", path.string());
    }
    for (const auto& path : program.runs) {
        add("--run", path.string());
    }
    for (const std::uint16_t port : program.network) {
        add("--port", std::to_string(port));
    }
    if (program.unconfined_network) {
        words.emplace_back("--unconfined-network");
    }
    if (settings.landlock_cap > 0) {
        add("--landlock-cap", std::to_string(settings.landlock_cap));
    }
    add("--", program.path.string());
    words.insert(words.end(), program.arguments.begin(), program.arguments.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

/// The owner's stands over the plugin's: the first of a name counts for most programs, so there is
/// only one of each.
std::vector<std::string> environment_of(const ProgramConfig& program,
                                        const ChildSettings& settings,
                                        const std::vector<std::string>& asked) {
    const std::string folder = settings.state_dir.string();
    std::vector<std::string> all{"PATH=/usr/bin:/bin",
                                 "LANG=C.UTF-8",
                                 "TZ=" + settings.zone,
                                 "HOME=" + folder,
                                 "TMPDIR=" + folder};
    for (const auto& [name, value] : program.environment) {
        all.push_back(name + "=" + value);
    }
    std::copy_if(
        asked.begin(), asked.end(), std::back_inserter(all), [&](const std::string& variable) {
            return program.environment.count(variable.substr(0, variable.find('='))) == 0;
        });
    return all;
}

/// write(2) whose reader may be gone: without the signal that would end the host.
ssize_t write_without_signal(int fd, std::string_view bytes) {
    sigset_t broken;
    sigset_t before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken, &before);
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    const int error = errno;
    if (wrote < 0 && error == EPIPE && sigismember(&before, SIGPIPE) == 0) {
        const timespec now{};
        ::sigtimedwait(&broken, nullptr, &now);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return wrote;
}

}  // namespace

std::string_view name_of(ChildState state) noexcept {
    switch (state) {
        case ChildState::starting:
            return "starting";
        case ChildState::running:
            return "running";
        case ChildState::ended:
            break;
    }
    return "ended";
}

Result<std::unique_ptr<ChildProgram>> ChildProgram::start(
    IoLoop& loop,
    const ProgramConfig& program,
    const ChildSettings& settings,
    const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment,
    ChildEvents events,
    std::int64_t generation) {
    auto input = make_pipe(true);
    auto output = make_pipe(false);
    auto errors = make_pipe(false);
    std::array<int, 2> ends{-1, -1};
    if (!input || !output || !errors ||
        ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return !input    ? input.error()
               : !output ? output.error()
               : !errors
                   ? errors.error()
                   : Error(Errc::io, "make a channel: " + std::generic_category().message(errno));
    }
    UniqueFd channel(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnRequest request;
    request.program = settings.runner_program.string();
    request.arguments = words_of(program, settings, arguments);
    request.environment = environment_of(program, settings, environment);
    request.channel = theirs.get();
    request.input = input->theirs.get();
    request.output = output->theirs.get();
    request.errors = errors->theirs.get();
    request.own_session = true;
    auto impl = std::make_shared<Impl>(loop, std::move(events));
    auto child = ChildProcess::spawn(request);
    if (!child) {
        return child.error();
    }
    const std::lock_guard lock(impl->mutex);
    impl->stop_grace = settings.stop_grace;
    impl->status.program = program.name;
    impl->status.generation = generation;
    impl->status.launcher = child->pid();
    impl->child = std::move(*child);
    impl->channel = std::move(channel);
    impl->input = std::move(input->ours);
    impl->output_fd = std::move(output->ours);
    impl->errors = std::move(errors->ours);
    impl->watch_all(settings.start_timeout);
    return std::unique_ptr<ChildProgram>(new ChildProgram(std::move(impl)));
}

ChildProgram::ChildProgram(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ChildProgram::~ChildProgram() {
    std::array<std::unique_ptr<Watch>, 7> watches;
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->closed = true;
        impl_->listeners.clear();
        impl_->kill();
        watches = {std::move(impl_->channel_watch),
                   std::move(impl_->exit_watch),
                   std::move(impl_->output_watch),
                   std::move(impl_->error_watch),
                   std::move(impl_->input_watch),
                   std::move(impl_->start_timer),
                   std::move(impl_->stop_timer)};
    }
    for (auto& watch : watches) {
        watch.reset();  // waits for a callback that runs, which finds it closed
    }
    impl_->child.reset();  // collects the process
}

std::uint64_t ChildProgram::listen(std::function<void()> changed) {
    const std::lock_guard lock(impl_->mutex);
    const std::uint64_t id = impl_->next_listener++;
    impl_->listeners.emplace(id, std::move(changed));
    return id;
}

void ChildProgram::unlisten(std::uint64_t id) {
    const std::lock_guard lock(impl_->mutex);
    impl_->listeners.erase(id);
}

std::optional<Result<>> ChildProgram::started() const {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->failure) {
        return Result<>(*impl_->failure);
    }
    if (impl_->status.walls.empty()) {
        return std::nullopt;
    }
    return Result<>();
}

Result<bool> ChildProgram::offer(std::string_view line) {
    const std::lock_guard lock(impl_->mutex);
    if (line.find('\n') != std::string_view::npos) {
        return Error(Errc::invalid, "a line holds no line end: send it as two");
    }
    if (line.size() > kMaxLine) {
        return Error(Errc::full, "a line has at most " + std::to_string(kMaxLine) + " bytes");
    }
    if (impl_->ended || impl_->input_closed) {
        return Error(Errc::unavailable,
                     impl_->ended ? "the program has ended: " + impl_->status.reason
                                  : std::string("the program's input is closed"));
    }
    const std::size_t waiting = impl_->to_write.size() - impl_->written;
    if (waiting > 0 && waiting + line.size() > kMaxInput) {
        return false;
    }
    impl_->to_write.append(line).push_back('\n');
    impl_->write_input();
    return true;
}

std::optional<ChildProgram::Output> ChildProgram::take() {
    const std::lock_guard lock(impl_->mutex);
    auto taken = impl_->output.take();
    impl_->watch_output();
    return taken;
}

void ChildProgram::close_input() {
    const std::lock_guard lock(impl_->mutex);
    impl_->input_closed = true;
    impl_->write_input();
}

Result<> ChildProgram::signal(int number) {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->ended || !impl_->child || impl_->status.state != ChildState::running) {
        return Error(Errc::unavailable, "the program does not run");
    }
    if (number == SIGKILL) {
        impl_->reported = End{{-1, SIGKILL}, true};
        impl_->kill();
        return {};
    }
    channel::FieldWriter fields;
    fields.add_number(number);
    const auto frames = channel::encode({channel::MessageType::cancel, 0, fields.take()});
    const std::string& frame = frames->front();
    if (::send(impl_->channel.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        return Error(Errc::unavailable,
                     "signal the program: " + std::generic_category().message(errno));
    }
    return {};
}

std::optional<ChildProgram::End> ChildProgram::end() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->ended;
}

std::vector<std::string> ChildProgram::error_lines() const {
    const std::lock_guard lock(impl_->mutex);
    return {impl_->error_lines.begin(), impl_->error_lines.end()};
}

void ChildProgram::stop() {
    close_input();
    static_cast<void>(signal(SIGTERM));
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->ended && !impl_->stop_timer) {
        impl_->stop_timer =
            impl_->loop.after(impl_->stop_grace, impl_->guarded(&Impl::on_stop_timeout));
    }
}

ChildStatus ChildProgram::status() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->status;
}

/// Writes what the pipe takes; the rest follows when it takes more.
void ChildProgram::Impl::write_input() {
    while (input && written < to_write.size()) {
        const ssize_t wrote =
            write_without_signal(input.get(), std::string_view(to_write).substr(written));
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0 && errno == EAGAIN) {
            if (!input_watch) {
                input_watch =
                    loop.watch(input.get(), IoLoop::Ready::write, guarded(&Impl::write_input));
            }
            return;
        }
        if (wrote < 0) {  // it does not read any more
            input_closed = true;
            written = to_write.size();
            break;
        }
        written += static_cast<std::size_t>(wrote);
    }
    to_write.clear();
    written = 0;
    if (loop.on_loop_thread()) {
        input_watch.reset();
        if (input_closed) {
            input.reset();
        }
    } else if (input_closed && !input_watch) {
        input.reset();
    }
}

}  // namespace daybook
