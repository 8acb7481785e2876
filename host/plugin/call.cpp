#include "host/plugin/call.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

using channel::FieldReader;
using channel::FieldWriter;
using channel::Message;
using channel::MessageType;

constexpr std::chrono::milliseconds kCancelPoll{50};
constexpr std::chrono::milliseconds kInspectPoll{250};
constexpr std::chrono::seconds kKillWait{5};
constexpr int kMostAttempts = 3;
constexpr std::size_t kMostVerbArguments = 16;
constexpr std::size_t kMostEventValues = 16;
constexpr std::size_t kMostEventBytes = 64UL * 1024 * 1024;
constexpr std::size_t kMostMessageText = 4096;
constexpr std::size_t kMostDetail = 64UL * 1024;
/// Of a result: a message full of the shortest values would take fifty times its bytes once read.
constexpr std::size_t kMostValues = 500'000;

SteadyTime now() {
    return std::chrono::steady_clock::now();
}

/// Values that a JSON text holds, at most: what stands behind a comma or an opening bracket outside
/// of strings.
std::size_t count_values(std::string_view json) {
    std::size_t count = 1;
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
        } else {
            in_string = c == '"';
            count += c == ',' || c == '[' || c == '{' ? 1 : 0;
        }
    }
    return count;
}

/// One call that is out.
class CallInFlight {
  public:
    CallInFlight(RunnerProcess& runner,
                 DeskInbox& inbox,
                 Leash& leash,
                 const CallRequest& request,
                 VerbServer& verbs,
                 const CallWatch& watch)
        : runner_(runner),
          inbox_(inbox),
          leash_(leash),
          request_(request),
          verbs_(verbs),
          watch_(watch),
          what_("plugin " + runner.status().plugin + ": " + request.kind + " " + request.name) {}

    CallOutcome run(std::chrono::milliseconds cancel_grace);

  private:
    CallOutcome wait(std::chrono::milliseconds cancel_grace);
    void abandon();
    Result<> begin();
    bool look_well();
    void end_early(Errc code, const std::string& why, std::chrono::milliseconds cancel_grace);
    void take(const Message& message);
    void take_verb(const Message& message);
    void take_result(const Message& message);
    void take_failure(const Message& message);
    void take_event(const Message& message);
    void answer(std::int64_t verb_request, const Result<std::string>& answer);
    void gone(const Error& how);
    void break_off(const std::string& what);
    void settle(Result<std::string> result);
    [[nodiscard]] bool is_cancelled() const { return watch_.is_cancelled && watch_.is_cancelled(); }

    RunnerProcess& runner_;
    DeskInbox& inbox_;
    Leash& leash_;
    const CallRequest& request_;
    VerbServer& verbs_;
    const CallWatch& watch_;
    const std::string what_;
    channel::CallId call_ = 0;
    CallOutcome outcome_;
    bool settled_ = false;
    bool is_gone_ = false;       ///< its process has ended
    std::optional<Error> over_;  ///< deadline or cancel: why no verb is served any more
    std::size_t event_bytes_ = 0;
    SteadyTime next_look_ = now() + kInspectPoll;
    std::shared_ptr<char> alive_ = std::make_shared<char>();
};

/// An exception of the host went through the wait: what the plugin does must not go on, and its
/// messages reach nobody. Waits for its end, so that the next call finds a fresh process.
void CallInFlight::abandon() {
    over_ = Error(Errc::internal, what_ + ": broken off by a fault of the host");
    outcome_.ended = true;
    verbs_.give_up(*over_);
    if (call_ == 0) {
        return;
    }
    runner_.kill(*over_);
    try {
        // Not until it has settled: a result may have been on its way already.
        inbox_.serve_until([&] { return is_gone_; }, now() + kKillWait);
    } catch (const std::exception&) {
        settled_ = true;  // the first exception is the one that is told
    }
    runner_.detach(call_);
}

CallOutcome CallInFlight::run(std::chrono::milliseconds cancel_grace) {
    try {
        return wait(cancel_grace);
    } catch (const std::exception&) {
        abandon();
        throw;
    }
}

CallOutcome CallInFlight::wait(std::chrono::milliseconds cancel_grace) {
    const SteadyTime begun = now();
    if (auto started = begin(); !started) {
        settle(started.error());
    }
    while (!settled_) {
        const bool may_cancel = static_cast<bool>(watch_.is_cancelled);
        SteadyTime until =
            may_cancel ? std::min(leash_.deadline, now() + kCancelPoll) : leash_.deadline;
        until = watch_.inspect ? std::min(until, next_look_) : until;
        inbox_.serve_until([&] { return settled_ || is_cancelled(); }, until);
        if (settled_ || !look_well()) {
            continue;
        }
        if (is_cancelled()) {
            end_early(Errc::cancelled, "cancelled", cancel_grace);
        } else if (now() >= leash_.deadline) {
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now() - begun);
            end_early(Errc::deadline,
                      "no answer within " + std::to_string(took.count()) + " ms",
                      cancel_grace);
        }
    }
    if (call_ != 0) {
        runner_.detach(call_);
    }
    outcome_.took = std::chrono::duration_cast<std::chrono::milliseconds>(now() - begun);
    return std::move(outcome_);
}

Result<> CallInFlight::begin() {
    if (runner_.is_busy()) {
        return Error(
            Errc::busy,
            what_ +
                ": this plugin is already at work in this call; a call back into it would wait for "
                "itself");
    }
    Error last(Errc::unavailable, what_ + ": did not start");
    for (int attempt = 0; attempt < kMostAttempts && now() < leash_.deadline; ++attempt) {
        if (auto ready = runner_.ensure_ready(leash_.deadline, watch_.is_cancelled); !ready) {
            return ready;
        }
        call_ = runner_.attach({[this](const Message& message) { take(message); },
                                [this](const Error& how) { gone(how); }});
        leash_.call = call_;
        const auto deadline = leash_.deadline.time_since_epoch();
        FieldWriter fields;
        fields.add(request_.kind)
            .add(request_.name)
            .add(request_.arguments)
            .add_number(std::chrono::duration_cast<std::chrono::nanoseconds>(deadline).count())
            .add(request_.idempotency_key);
        auto sent = runner_.send({MessageType::call, call_, fields.take()});
        if (sent) {
            return sent;
        }
        runner_.detach(std::exchange(call_, 0));
        if (sent.error().code() != Errc::unavailable) {
            return sent.error().during(what_);
        }
        last =
            sent.error().during(what_);  // stopped for idleness in this very moment: start it again
    }
    return now() < leash_.deadline
               ? Result<>(last)
               : Result<>(Error(Errc::deadline, what_ + ": no time left to start it"));
}

/// Asks the watch's inspection when it is time; false when that ended the call.
bool CallInFlight::look_well() {
    if (!watch_.inspect || now() < next_look_) {
        return true;
    }
    next_look_ = now() + kInspectPoll;
    auto well = watch_.inspect();
    if (well) {
        return true;
    }
    over_ = well.error().during(what_);
    outcome_.ended = true;
    runner_.kill(well.error());
    if (!inbox_.serve_until([&] { return settled_; }, now() + kKillWait)) {
        settle(*over_);
    }
    return false;
}

/// Past the deadline, or cancelled: asks for an end, waits for the grace, then ends the process.
void CallInFlight::end_early(Errc code,
                             const std::string& why,
                             std::chrono::milliseconds cancel_grace) {
    over_ = Error(code, what_ + ": " + why);
    outcome_.ended = true;
    verbs_.give_up(*over_);
    // A runner that does not even read this is killed all the same.
    static_cast<void>(runner_.send({MessageType::cancel, call_, {}}));
    if (inbox_.serve_until([&] { return settled_; }, now() + cancel_grace)) {
        return;
    }
    runner_.kill(Error(code,
                       why + "; it did not stop within " + std::to_string(cancel_grace.count()) +
                           " ms of being asked to and was killed"));
    if (!inbox_.serve_until([&] { return settled_; }, now() + kKillWait)) {
        settle(Error(code, what_ + ": " + why + "; its process could not be ended yet"));
    }
}

void CallInFlight::settle(Result<std::string> result) {
    settled_ = true;
    outcome_.ended = true;
    outcome_.result = std::move(result);
}

void CallInFlight::gone(const Error& how) {
    is_gone_ = true;
    if (!settled_) {
        settle(how.during(what_));
    }
}

void CallInFlight::break_off(const std::string& what) {
    const Error error(Errc::plugin_protocol, "broke the protocol: " + what);
    runner_.kill(error);
    if (!settled_) {
        settle(error.during(what_));
    }
}

void CallInFlight::take(const Message& message) {
    if (message.type == MessageType::verb) {
        take_verb(message);
    } else if (settled_) {
        return;
    } else if (message.type == MessageType::result) {
        take_result(message);
    } else if (message.type == MessageType::failure) {
        take_failure(message);
    } else if (message.type == MessageType::event) {
        take_event(message);
    } else if (message.type == MessageType::progress) {
        FieldReader fields(message.payload);
        const auto text = fields.next();
        if (!text) {
            break_off("a malformed progress message");
        } else if (watch_.on_progress && !over_) {
            watch_.on_progress(printable(*text, kMostMessageText));
        }
    }
}

void CallInFlight::take_verb(const Message& message) {
    FieldReader fields(message.payload);
    const auto verb_request = fields.next_number();
    const auto verb = fields.next();
    std::vector<std::string> arguments;
    bool is_whole = verb_request && verb && !verb->empty();
    while (is_whole && !fields.at_end()) {
        const auto argument = fields.next();
        is_whole = argument && arguments.size() < kMostVerbArguments;
        if (is_whole) {
            arguments.emplace_back(*argument);
        }
    }
    if (!is_whole) {
        break_off("a malformed verb");
    } else if (settled_) {
        answer(*verb_request, Error(Errc::not_found, "no such call: it has ended"));
    } else if (over_) {
        answer(*verb_request, *over_);
    } else {
        // It may outlive this call: what it points to is then gone with `alive_`.
        const VerbServer::Reply reply = [this, weak = std::weak_ptr(alive_), id = *verb_request](
                                            const Result<std::string>& later) {
            if (!weak.expired() && call_ != 0) {
                answer(id, later);
            }
        };
        if (!verbs_.serve_later(leash_, *verb, arguments, outcome_, reply)) {
            answer(*verb_request, verbs_.serve(leash_, *verb, arguments, outcome_));
        }
    }
}

void CallInFlight::answer(std::int64_t verb_request, const Result<std::string>& answer) {
    FieldWriter reply;
    reply.add_number(verb_request);
    if (answer) {
        reply.add_number(0).add(*answer);
    } else {
        Json body = Json::object();
        body.set("error", name_of(answer.error().code())).set("message", answer.error().message());
        reply.add_number(static_cast<std::int64_t>(answer.error().code())).add(body.dump());
    }
    auto sent = runner_.send({MessageType::verb_reply, call_, reply.take()});
    if (sent || sent.error().code() == Errc::unavailable) {
        return;  // the end of its process is on its way here
    }
    if (answer && answer->size() > channel::kMaxMessageBytes / 2) {
        this->answer(verb_request, Error(Errc::full, "the answer is too long for one message"));
        return;
    }
    break_off("it does not read the answers to its verbs");
}

void CallInFlight::take_result(const Message& message) {
    FieldReader fields(message.payload);
    const auto json = fields.next();
    if (!json || !fields.at_end()) {
        break_off("a malformed result");
        return;
    }
    JsonLimits limits;
    limits.max_bytes = channel::kMaxMessageBytes;
    limits.max_string_bytes = channel::kMaxMessageBytes;
    const std::string text = json->empty() ? "null" : std::string(*json);
    const auto parsed =
        count_values(text) > kMostValues
            ? Result<Json>(Error(Errc::full,
                                 "it holds more than " + std::to_string(kMostValues) + " values"))
            : Json::parse(text, limits);
    if (over_) {
        // It came too late to be the answer, and may say what was done.
        settle(*over_);
        outcome_.detail = parsed && text.size() <= kMostDetail
                              ? Json::object({{"late_result", *parsed}}).dump()
                              : "";
    } else if (!parsed && parsed.error().code() == Errc::full) {
        settle(Error(Errc::full, what_ + ": its result is too long: " + parsed.error().message()));
    } else if (!parsed) {
        settle(Error(Errc::plugin_protocol,
                     what_ + ": its result is not JSON: " + parsed.error().message()));
    } else {
        settle(text);
    }
}

void CallInFlight::take_failure(const Message& message) {
    FieldReader fields(message.payload);
    const auto status = fields.next_number();
    const auto retryable = fields.next_number();
    const auto text = fields.next();
    const auto detail = fields.next();
    if (!status || !retryable || !text || !detail || !fields.at_end()) {
        break_off("a malformed failure");
        return;
    }
    const bool is_known = *status > 0 && *status <= INT32_MAX;
    const Errc code = is_known ? errc_of(static_cast<std::int32_t>(*status)) : Errc::internal;
    if (detail->size() <= kMostDetail && Json::parse(*detail)) {
        outcome_.detail = *detail;
    }
    if (over_) {
        settle(*over_);
    } else {
        settle(Error(code,
                     text->empty() ? what_ + ": failed without a reason"
                                   : printable(*text, kMostMessageText)));
    }
}

void CallInFlight::take_event(const Message& message) {
    FieldReader fields(message.payload);
    const auto name = fields.next();
    ModelEvent event;
    bool is_whole = name && !name->empty();
    while (is_whole && !fields.at_end()) {
        const auto value = fields.next();
        is_whole = value && event.values.size() < kMostEventValues;
        if (is_whole) {
            event.values.emplace_back(*value);
        }
    }
    event_bytes_ += message.payload.size();
    if (!is_whole) {
        break_off("a malformed event");
    } else if (event_bytes_ > kMostEventBytes) {
        break_off("events of more than " + std::to_string(kMostEventBytes) + " bytes in one call");
    } else if (watch_.on_event && !over_) {
        event.name = *name;
        watch_.on_event(event);
    }
}

}  // namespace

CallOutcome run_call(RunnerProcess& runner,
                     DeskInbox& inbox,
                     Leash& leash,
                     const CallRequest& request,
                     VerbServer& verbs,
                     const CallWatch& watch,
                     std::chrono::milliseconds cancel_grace) {
    return CallInFlight(runner, inbox, leash, request, verbs, watch).run(cancel_grace);
}

}  // namespace daybook
