#include "host/plugin/host_http.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

std::int64_t number_in(const std::string& text) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

struct Function {
    std::string_view name;
    std::size_t arguments;
};
constexpr std::array<Function, 5> kFunctions{
    {{"begin", 2}, {"send", 3}, {"head", 1}, {"read", 2}, {"close", 1}}};

}  // namespace

HostHttp::HostHttp(HttpAccess access, SteadyTime deadline)
    : access_(std::move(access)), deadline_(deadline), self_(std::make_shared<HostHttp*>(this)) {}

HostHttp::~HostHttp() = default;

void HostHttp::serve(std::string_view function,
                     const std::vector<std::string>& arguments,
                     VerbServer::Reply reply) {
    const std::string verb = "http/1." + printable(function, 40);
    const auto known = std::find_if(kFunctions.begin(),
                                    kFunctions.end(),
                                    [&](const Function& each) { return each.name == function; });
    if (known == kFunctions.end() || access_.client == nullptr) {
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
    if (function == "begin") {
        reply(begin(arguments));
        return;
    }
    Waiting waiting{number_in(arguments[0]), std::string(function), arguments, std::move(reply)};
    const auto found = open_.find(waiting.exchange);
    if (found == open_.end()) {
        waiting.reply(Error(Errc::not_found, verb + ": no such exchange is open in this call"));
        return;
    }
    if (function == "close") {
        open_.erase(found);
        waiting.reply(std::string());
        look();  // a thread of the plugin that still waits for it
        return;
    }
    if (auto answer = try_answer(waiting)) {
        waiting.reply(std::move(*answer));
    } else {
        waiting_.push_back(std::move(waiting));
    }
}

Result<std::string> HostHttp::begin(const std::vector<std::string>& arguments) {
    if (open_.size() >= kMaxOpen) {
        return Error(Errc::full,
                     "http/1.begin: " + std::to_string(kMaxOpen) +
                         " exchanges are open in this call; close one first");
    }
    auto request = read_http_ask(arguments[0], arguments[1], access_.origins, access_.credential);
    if (!request) {
        return request.error();
    }
    if (sent_ += arguments[1].size(); sent_ > kMaxSent) {
        return Error(Errc::full, "http/1.begin: the call has sent as much as it may");
    }
    request->deadline = deadline_;
    auto started = access_.client->start(std::move(*request),
                                         [inbox = access_.inbox, weak = std::weak_ptr(self_)] {
                                             inbox->post([weak] {
                                                 if (const auto self = weak.lock()) {
                                                     (*self)->look();
                                                 }
                                             });
                                         });
    if (!started) {
        return started.error();
    }
    const std::int64_t id = next_++;
    open_.emplace(id, std::move(*started));
    return Json::object().set("exchange", id).dump();
}

std::optional<Result<std::string>> HostHttp::try_answer(const Waiting& waiting) {
    const auto found = open_.find(waiting.exchange);
    if (found == open_.end()) {
        return Error(Errc::not_found, "the exchange was closed");
    }
    HttpExchange& exchange = *found->second;
    if (waiting.function == "read") {
        return try_read(exchange, waiting);
    }
    if (waiting.function == "send") {
        return try_send(exchange, waiting);
    }
    const auto head = exchange.head();
    if (!head) {
        return std::nullopt;
    }
    return *head ? Result<std::string>(head_json(**head)) : Result<std::string>(head->error());
}

std::optional<Result<std::string>> HostHttp::try_read(HttpExchange& exchange,
                                                      const Waiting& waiting) {
    const std::int64_t asked = number_in(waiting.arguments[1]);
    if (asked < 0) {
        return Error(Errc::invalid, "http/1.read: max_bytes is a number from 0 (no measure) on");
    }
    const std::size_t most =
        asked == 0 ? kMaxRead : std::min(kMaxRead, static_cast<std::size_t>(asked));
    auto taken = exchange.take(most);
    if (taken && *taken) {
        received_ += (*taken)->size();
        if (received_ > kMaxReceived) {
            return Error(Errc::full, "http/1.read: the call has received as much as it may");
        }
    }
    return taken;
}

std::optional<Result<std::string>> HostHttp::try_send(HttpExchange& exchange,
                                                      const Waiting& waiting) {
    const std::string& bytes = waiting.arguments[1];
    if (sent_ + bytes.size() > kMaxSent) {
        return Error(Errc::full, "http/1.send: the call has sent as much as it may");
    }
    const auto offered = exchange.offer(bytes, waiting.arguments[2] == "1");
    if (!offered) {
        return offered.error();
    }
    if (!*offered) {
        return std::nullopt;
    }
    sent_ += bytes.size();
    return std::string();
}

/// Answers what can be answered now.
void HostHttp::look() {
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

void HostHttp::give_up(const Error& why) {
    over_ = why;
    open_.clear();
    const std::list<Waiting> told = std::exchange(waiting_, {});
    for (const Waiting& waiting : told) {
        waiting.reply(why);
    }
}

}  // namespace daybook
