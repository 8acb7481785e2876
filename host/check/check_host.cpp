#include "host/check/check_host.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <daybook/status.h>
#include <daybook/version.h>

#include "host/format/json.hpp"
#include "host/format/sha256.hpp"
#include "host/os/desk_path.hpp"
#include "host/runner/host_link.hpp"
#include "host/runner/module.hpp"
#include "host/runner/options.hpp"
#include "host/runner/server.hpp"
#include "host/runner/start_report.hpp"
#include "host/runner/walls.hpp"

namespace daybook::check {
namespace {

using channel::MessageType;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStartPatience{10000};
constexpr milliseconds kEndPatience{2000};
constexpr std::size_t kMaxPrinted = 64UL * 1024;

std::vector<std::string> texts_of(const channel::Message& message) {
    std::vector<std::string> texts;
    channel::FieldReader fields(message.payload);
    while (!fields.at_end()) {
        const auto field = fields.next();
        if (!field) {
            break;
        }
        texts.emplace_back(*field);
    }
    return texts;
}

std::int64_t number_of(const std::string& field) {
    std::uint64_t number = 0;
    for (std::size_t i = std::min<std::size_t>(field.size(), 8); i > 0; --i) {
        number = (number << 8U) | static_cast<unsigned char>(field[i - 1]);
    }
    return static_cast<std::int64_t>(number);
}

std::int64_t monotonic_ns(milliseconds from_now) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               (steady_clock::now() + from_now).time_since_epoch())
        .count();
}

/// What daybook-runner does after its walls, in a thread of this process. It ends the process when
/// the channel ends.
void serve_here(int socket, const std::string& file) {
    runner::HostLink link(socket);
    const Manifest manifest = runner::need(link, "manifest", 1, runner::read_manifest(file));
    const daybook_plugin* plugin =
        runner::need(link, "load", 1, runner::load_module(file, manifest));
    const std::string descriptor =
        runner::need(link, "descriptor", 1, runner::check_descriptor(*plugin, manifest));
    channel::FieldWriter fields;
    fields.add("{\"landlock\":0,\"seccomp\":0}").add(descriptor);
    if (link.send({MessageType::ready, 0, fields.take()})) {
        runner::Server(socket, link, *plugin, manifest.wants).run();
    }
}

}  // namespace

std::vector<std::string> runner_arguments(const Subject& subject) {
    std::vector<std::string> words = {"--module",
                                      subject.file.string(),
                                      "--desk-dir",
                                      (subject.work / "desk").string(),
                                      "--plugin",
                                      subject.manifest.name,
                                      "--desk",
                                      "check",
                                      "--profile",
                                      subject.manifest.profile,
                                      "--isolation",
                                      subject.isolation,
                                      "--probe-file",
                                      (subject.work / "probe").string()};
    if (subject.manifest.profile == "scratch") {
        words.insert(words.end(),
                     {"--scratch-dir",
                      (subject.work / "scratch").string(),
                      "--scratch-max",
                      std::to_string(64UL << 20)});
    }
    return words;
}

Result<> CheckHost::spawn(const Subject& subject) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return Error(Errc::io, "make a channel: " + std::generic_category().message(errno));
    }
    socket_.reset(ends[0]);
    UniqueFd theirs(ends[1]);
    if (subject.in_process) {
        std::thread([socket = theirs.release(), file = subject.file.string()] {
            serve_here(socket, file);
        }).detach();  // ends with the process
        return {};
    }
    SpawnRequest request;
    request.program = subject.runner.string();
    request.channel = theirs.get();
    request.arguments = runner_arguments(subject);
    request.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", "MALLOC_ARENA_MAX=2"};
    if (subject.manifest.profile == "scratch") {
        request.environment.push_back("TMPDIR=" + (subject.work / "scratch").string());
        request.environment.push_back("SQLITE_TMPDIR=" + (subject.work / "scratch").string());
    }
    auto child = ChildProcess::spawn(request);
    if (!child) {
        return child.error();
    }
    child_ = std::move(*child);
    return {};
}

Result<std::unique_ptr<CheckHost>> CheckHost::start(const Subject& subject) {
    std::unique_ptr<CheckHost> host(new CheckHost);
    host->files_["Memory.md"] = "# Memory\n\n- NIFTY lot size is 75\n";
    if (auto spawned = host->spawn(subject); !spawned) {
        return spawned.error();
    }
    if (auto opened = host->open(subject); !opened) {
        return opened.error();
    }
    return host;
}

Result<> CheckHost::open(const Subject& subject) {
    const auto failed = [this](const std::optional<channel::Message>& message) -> Error {
        if (message && message->type == MessageType::start_failed) {
            const auto texts = texts_of(*message);
            return Error(Errc::refused,
                         texts.size() == 3 ? texts[0] + ": " + texts[2] : "a malformed refusal");
        }
        return is_gone_
                   ? Error(Errc::refused, "start: it ended before it was ready: " + how_it_ended())
                   : Error(Errc::deadline, "start: no answer within 10 s");
    };
    const auto ready = next(kStartPatience);
    if (!ready || ready->type != MessageType::ready) {
        return failed(ready);
    }
    const auto texts = texts_of(*ready);
    walls_ = texts.empty() ? std::string() : texts.front();
    channel::FieldWriter fields;
    fields.add(subject.config).add("check").add(DAYBOOK_VERSION_STRING);
    fields.add(subject.manifest.profile);
    send(MessageType::open, 0, fields.take());
    auto opened = next(kStartPatience);
    while (opened && opened->type == MessageType::log) {
        opened = next(kStartPatience);
    }
    return opened && opened->type == MessageType::opened ? Result<>() : Result<>(failed(opened));
}

bool CheckHost::send(MessageType type, channel::CallId call, std::string payload) {
    return channel::send_blocking(socket_.get(), {type, call, std::move(payload)}).has_value();
}

std::optional<channel::Message> CheckHost::next(milliseconds patience) {
    const auto until = steady_clock::now() + patience;
    while (!is_gone_) {
        const auto left =
            std::chrono::duration_cast<milliseconds>(until - steady_clock::now()).count();
        if (left <= 0) {
            return std::nullopt;
        }
        static_cast<void>(printed());
        pollfd wait{socket_.get(), POLLIN, 0};
        // Short waits: a plugin that prints a lot must not wait for us to read it.
        if (::poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left, 20))) <= 0) {
            continue;
        }
        auto message = channel::receive_blocking(socket_.get(), assembler_);
        if (message) {
            return *std::move(message);
        }
        is_gone_ = true;
        if (message.error().code() != Errc::unavailable) {
            broken_ = message.error().message();
        }
    }
    return std::nullopt;
}

std::string CheckHost::printed() {
    char buffer[4096];
    while (child_) {
        const ssize_t got = ::read(child_->output(), buffer, sizeof buffer);
        if (got <= 0) {
            break;
        }
        if (printed_.size() < kMaxPrinted) {
            printed_.append(buffer, static_cast<std::size_t>(got));
        }
    }
    return printed_;
}

std::string CheckHost::how_it_ended() {
    if (!broken_.empty()) {
        return "it broke the channel's rules, for which a host kills it: " + broken_;
    }
    if (!child_) {
        return "its thread ended";
    }
    pollfd wait{child_->pidfd(), POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(kEndPatience.count()));
    const auto exit = child_->try_wait();
    std::string text = exit ? exit->str() : "its channel closed, the process lives";
    const std::string words = printed();
    if (!words.empty()) {
        text +=
            "; it printed: " +
            printable(words.substr(words.size() - std::min<std::size_t>(words.size(), 400)), 500);
    }
    return text;
}

void CheckHost::answer_verb(const channel::Message& message, bool refuse, CallEnd& end) {
    const auto texts = texts_of(message);
    if (texts.size() < 2) {
        return;
    }
    const std::string& verb = texts[1];
    const auto argument = [&](std::size_t i) {
        return 2 + i < texts.size() ? texts[2 + i] : std::string();
    };
    end.verbs.push_back(verb);
    std::int64_t status = DAYBOOK_OK;
    std::string body;
    const auto fail = [&](std::int64_t code, const std::string& name, const std::string& text) {
        status = code;
        body = Json::object().set("error", name).set("message", text).dump();
    };
    const bool is_write = verb == "desk-files/1.append" || verb == "desk-files/1.replace" ||
                          verb == "desk-files/1.edit";
    if (refuse) {
        fail(DAYBOOK_REFUSED, "refused", verb + ": the check refuses every verb");
    } else if (verb == "desk-files/1.read" || verb == "desk-files/1.read_lines") {
        const auto found = files_.find(argument(0));
        found != files_.end() ? body = found->second
                              : (fail(DAYBOOK_NOT_FOUND, "not_found", "no such file"), body);
    } else if (verb == "desk-files/1.list") {
        Json list = Json::array();
        for (const auto& [path, text] : files_) {
            list.push(Json::object().set("path", path).set("bytes", text.size()).set("own", true));
        }
        body = list.dump();
    } else if (is_write) {
        std::string& file = files_[argument(0)];
        const std::size_t before = file.size();
        file = verb == "desk-files/1.append" && before < kMaxPrinted ? file + argument(2)
               : verb == "desk-files/1.replace"                      ? argument(2)
                                                                     : file;
        body = Json::object()
                   .set("path", argument(0))
                   .set("checkpoint", "c-" + std::to_string(++writes_))
                   .set("sha256", sha256_hex(file))
                   .set("bytes_before", before)
                   .set("bytes", file.size())
                   .set("journal", "j-1")
                   .dump();
    } else if (verb == "clock/1.now_ns") {
        body = "1792382400000000000";
    } else if (verb == "clock/1.describe") {
        body = R"({"now":"2026-10-19T10:15:00+05:30","day":"2026-10-19","zone":"Asia/Kolkata",)"
               R"("market":"open","sessions":[{"open":"09:15","close":"15:30"}]})";
    } else if (verb == "clock/1.sessions") {
        body = R"({"day":"2026-10-19","trading_day":true,"known":true,)"
               R"("sessions":[{"open":"09:15","close":"15:30"}]})";
    } else {
        fail(DAYBOOK_UNAVAILABLE, "unavailable", verb + ": the check serves no such verb");
    }
    channel::FieldWriter reply;
    reply.add_number(number_of(texts[0])).add_number(status).add(body);
    send(MessageType::verb_reply, message.call, reply.take());
}

CallEnd CheckHost::call(const CallAsk& ask) {
    CallEnd end;
    const channel::CallId id = next_call_++;
    const auto began = steady_clock::now();
    channel::FieldWriter fields;
    fields.add(ask.kind).add(ask.name).add(ask.arguments);
    fields.add_number(ask.deadline.count() == 0 ? 0 : monotonic_ns(ask.deadline));
    fields.add("check-" + std::to_string(id));
    if (is_gone_ || !send(MessageType::call, id, fields.take())) {
        is_gone_ = true;
    }
    bool to_cancel = ask.cancel_after.has_value();
    while (true) {
        const auto spent = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
        if (to_cancel && spent >= *ask.cancel_after) {
            send(MessageType::cancel, id);
            to_cancel = false;
        }
        if (spent >= ask.patience) {
            break;
        }
        const auto left = to_cancel ? *ask.cancel_after - spent : ask.patience - spent;
        const auto message = next(std::max(left, milliseconds(1)));
        if (is_gone_) {
            end.how = CallEnd::How::died;
            end.text = how_it_ended();
            break;
        }
        if (!message || (message->call != id && message->type != MessageType::verb)) {
            continue;
        }
        const auto texts = texts_of(*message);
        if (message->type == MessageType::verb) {
            answer_verb(*message, ask.verbs_fail, end);
        } else if (message->type == MessageType::event) {
            end.events.push_back(texts);
        } else if (message->type == MessageType::result && !texts.empty()) {
            end.how = CallEnd::How::result;
            end.text = texts[0];
            break;
        } else if (message->type == MessageType::failure && texts.size() >= 3) {
            end.how = CallEnd::How::failure;
            end.status = number_of(texts[0]);
            end.text = texts[2];
            break;
        }
    }
    end.took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
    return end;
}

std::string CheckHost::end() {
    send(MessageType::drain, 0);
    auto message = next(kEndPatience);
    while (message && message->type != MessageType::drained) {
        message = next(kEndPatience);
    }
    if (!message) {
        return is_gone_ ? "it ended while it drained: " + how_it_ended()
                        : std::string("drain did not come back within 2 s");
    }
    send(MessageType::close, 0);
    if (!child_) {
        return {};
    }
    pollfd wait{child_->pidfd(), POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(kEndPatience.count()));
    const auto exit = child_->try_wait();
    if (!exit) {
        return "close did not end the process within 2 s: join your threads in it";
    }
    return exit->code == 0 ? std::string() : "the process ended by " + exit->str();
}

std::uint64_t CheckHost::resident_bytes() const {
    const std::string process = child_ ? std::to_string(child_->pid()) : std::string("self");
    std::ifstream file("/proc/" + process + "/statm");
    std::uint64_t whole = 0;
    std::uint64_t resident = 0;
    file >> whole >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace daybook::check
