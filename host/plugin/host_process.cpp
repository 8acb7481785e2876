#include "host/plugin/host_process.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <utility>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/process_ask.hpp"

namespace daybook {
namespace {

using Output = ChildProgram::Output;

std::optional<std::int64_t> number_in(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                    : std::nullopt;
}

struct Function {
    std::string_view name;
    std::size_t arguments;
};
constexpr std::array<Function, 6> kFunctions{
    {{"start", 2}, {"send", 2}, {"receive", 2}, {"close_input", 1}, {"signal", 2}, {"wait", 2}}};
constexpr std::int64_t kLongestWait = 24L * 3600 * 1000;  // milliseconds

/// As ext/process.h numbers them.
char digit_of(Output::Kind kind) {
    switch (kind) {
        case Output::Kind::line:
            return '1';
        case Output::Kind::cut:
            return '2';
        case Output::Kind::rest:
            return '3';
        case Output::Kind::ended:
            break;
    }
    return '4';
}

}  // namespace

HostProcess::Open::~Open() {
    if (listener != 0 && program.is_attached()) {
        program->unlisten(listener);
    }
}

HostProcess::HostProcess(ProcessAccess access)
    : access_(std::move(access)), self_(std::make_shared<HostProcess*>(this)) {}

HostProcess::~HostProcess() = default;

void HostProcess::serve(std::string_view function,
                        const std::vector<std::string>& arguments,
                        VerbServer::Reply reply) {
    const std::string verb = "process/1." + printable(function, 40);
    const auto known = std::find_if(kFunctions.begin(),
                                    kFunctions.end(),
                                    [&](const Function& each) { return each.name == function; });
    if (known == kFunctions.end() || access_.children == nullptr) {
        reply(Error(Errc::unsupported, verb + ": this host does not serve it"));
        return;
    }
    if (arguments.size() != known->arguments) {
        reply(Error(Errc::invalid,
                    verb + ": wants " + std::to_string(known->arguments) + " arguments, got " +
                        std::to_string(arguments.size())));
        return;
    }
    if (over_) {
        reply(*over_);
        return;
    }
    Waiting waiting{0, std::string(function), arguments, std::nullopt, std::move(reply), nullptr};
    const auto id = function == "start" ? start(arguments)
                                        : Result<std::int64_t>(number_in(arguments[0]).value_or(0));
    if (!id) {
        waiting.reply(id.error());
        return;
    }
    waiting.process = *id;
    if (function == "receive" || function == "wait") {
        const auto timeout = number_in(arguments[1]);
        if (!timeout) {
            waiting.reply(Error(Errc::invalid, verb + ": timeout_ms is a number"));
            return;
        }
        if (*timeout >= 0) {
            waiting.until = std::chrono::steady_clock::now() +
                            std::chrono::milliseconds(std::min(*timeout, kLongestWait));
        }
    }
    wait_for(std::move(waiting));
}

/// Answers at once where it can.
void HostProcess::wait_for(Waiting waiting) {
    if (auto answer = try_answer(waiting)) {
        waiting.reply(std::move(*answer));
        return;
    }
    if (waiting.until) {
        waiting.timer = access_.children->loop().after(
            *waiting.until - std::chrono::steady_clock::now(), looker());
    }
    waiting_.push_back(std::move(waiting));
}

/// Has the desk's thread look again; from any thread.
std::function<void()> HostProcess::looker() const {
    return [inbox = access_.inbox, weak = std::weak_ptr(self_)] {
        inbox->post([weak] {
            if (const auto self = weak.lock()) {
                (*self)->look();
            }
        });
    };
}

Result<const ProgramConfig*> HostProcess::approved(const std::string& name) const {
    const auto found = access_.programs->find(name);
    if (found != access_.programs->end()) {
        return &found->second;
    }
    return Error(Errc::refused,
                 "process/1.start: program " + printable(name, 80) +
                     " is not approved; write [plugin." + access_.plugin + ".programs." +
                     printable(name, 80) + "] with its path in the configuration");
}

Result<std::int64_t> HostProcess::start(const std::vector<std::string>& arguments) {
    if (open_.size() >= kMaxOpen) {
        return Error(Errc::full,
                     "process/1.start: a call attaches to at most " + std::to_string(kMaxOpen) +
                         " programs");
    }
    const auto program = approved(arguments[0]);
    if (!program) {
        return program.error();
    }
    const auto options = read_process_start(arguments[1]);
    if (!options) {
        return options.error();
    }
    auto attached = access_.children->attach(access_.plugin, **program, options->ask);
    if (!attached) {
        return attached.error();
    }
    const std::int64_t id = next_++;
    Open& open = open_[id];
    open.program = std::move(*attached);
    open.on_cancel = options->on_cancel == "interrupt" ? OnCancel::interrupt
                     : options->on_cancel == "end"     ? OnCancel::end
                                                       : OnCancel::keep;
    open.listener = open.program->listen(looker());
    return id;
}

std::optional<Result<std::string>> HostProcess::try_answer(const Waiting& waiting) {
    const auto found = open_.find(waiting.process);
    if (found == open_.end()) {
        return Error(
            Errc::not_found,
            "process/1." + waiting.function + ": this call is attached to no such process");
    }
    Open& open = found->second;
    if (waiting.function == "start") {
        return try_start(open, waiting);
    }
    if (waiting.function == "receive") {
        return try_receive(open, waiting);
    }
    if (waiting.function == "wait") {
        return try_wait(open, waiting);
    }
    if (waiting.function == "signal") {
        return signal(open, waiting.arguments[1]);
    }
    if (waiting.function == "close_input") {
        open.program->close_input();
        return Result<std::string>(std::string());
    }
    const auto offered = open.program->offer(waiting.arguments[1]);
    if (offered && !*offered) {
        return std::nullopt;
    }
    return offered ? Result<std::string>(std::string()) : Result<std::string>(offered.error());
}

std::optional<Result<std::string>> HostProcess::try_start(Open& open, const Waiting& waiting) {
    const auto started = open.program->started();
    if (!started) {
        return std::nullopt;
    }
    if (!*started) {
        return started->error();
    }
    const ChildStatus status = open.program->status();
    return Json::object()
        .set("process", waiting.process)
        .set("fresh", open.program.is_fresh)
        .set("pid", status.pid)
        .set("generation", status.generation)
        .dump();
}

std::optional<Result<std::string>> HostProcess::try_receive(Open& open, const Waiting& waiting) {
    if (auto output = open.program->take()) {
        return digit_of(output->kind) + std::move(output->text);
    }
    if (waiting.until && std::chrono::steady_clock::now() >= *waiting.until) {
        return Result<std::string>("0");
    }
    return std::nullopt;
}

std::optional<Result<std::string>> HostProcess::try_wait(Open& open, const Waiting& waiting) {
    const auto end = open.program->end();
    const bool is_late = waiting.until && std::chrono::steady_clock::now() >= *waiting.until;
    if (!end && !is_late) {
        return std::nullopt;
    }
    Json answer = Json::object().set("state", end ? "ended" : "running");
    if (end) {
        answer.set("code", end->exit.code).set("signal", end->exit.signal);
    }
    Json errors = Json::array();
    for (const std::string& line : open.program->error_lines()) {
        errors.push(line);
    }
    return answer.set("errors", std::move(errors)).dump();
}

Result<std::string> HostProcess::signal(Open& open, const std::string& which) {
    const int number = which == "interrupt"   ? SIGINT
                       : which == "terminate" ? SIGTERM
                       : which == "kill"      ? SIGKILL
                                              : 0;
    if (number == 0) {
        return Error(Errc::invalid,
                     "process/1.signal: interrupt, terminate or kill, not " + printable(which, 40));
    }
    const auto sent = open.program->signal(number);
    return sent ? Result<std::string>(std::string()) : Result<std::string>(sent.error());
}

/// Answers what can be answered now.
void HostProcess::look() {
    for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
        auto answer = try_answer(*waiting);
        if (!answer) {
            ++waiting;
            continue;
        }
        const VerbServer::Reply reply = std::move(waiting->reply);
        waiting = waiting_.erase(waiting);
        reply(std::move(*answer));
    }
}

void HostProcess::give_up(const Error& why) {
    over_ = why;
    for (auto& [id, open] : open_) {
        if (open.on_cancel == OnCancel::interrupt) {
            static_cast<void>(open.program->signal(SIGINT));  // it may have ended
        } else if (open.on_cancel == OnCancel::end) {
            open.program->stop();
        }
    }
    const std::list<Waiting> told = std::exchange(waiting_, {});
    for (const Waiting& waiting : told) {
        waiting.reply(why);
    }
}

}  // namespace daybook
