#include "host/surface/turn_watch.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "host/surface/host.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxEarlyEvents = 4096;
constexpr std::size_t kMaxAnswer = 1024UL * 1024;

Json accepted_json(const Accepted& accepted) {
    return Json::object()
        .set("trigger", accepted.trigger)
        .set("duplicate", accepted.duplicate)
        .set("settled", accepted.settled);
}

/// Listens from before the trigger is accepted, since its turn may start before accept() has
/// returned; events that come before its id is known are kept.
class TurnWatch : public std::enable_shared_from_this<TurnWatch> {
  public:
    TurnWatch(Host& host, Desk& desk, std::shared_ptr<Reply> reply, bool stream)
        : host_(host), desk_(desk.shared_from_this()), reply_(std::move(reply)), stream_(stream) {}

    void listen() {
        const std::weak_ptr<TurnWatch> weak = weak_from_this();
        listener_ =
            desk_->listen([self = shared_from_this()](const Json& event) { self->take(event); });
        reply_->on_gone([weak] {
            if (const auto self = weak.lock()) {
                self->let_go();
            }
        });
    }

    void start(const Accepted& accepted) {
        const std::lock_guard guard(mutex_);
        accepted_ = accepted;
        if (stream_) {
            reply_->event(accepted_json(accepted).set("event", "accepted"));
        }
        for (const Json& event : std::exchange(early_, {})) {
            follow(event, accepted);
        }
    }

    /// Stops listening. On the loop, since a listener may be what calls.
    void let_go() {
        if (!let_go_.exchange(true)) {
            host_.needs().loop.post(
                [self = shared_from_this()] { self->desk_->unlisten(self->listener_); });
        }
    }

  private:
    void take(const Json& event) {  // [desk]
        const std::lock_guard guard(mutex_);
        if (accepted_) {
            follow(event, *accepted_);
        } else if (early_.size() < kMaxEarlyEvents) {
            early_.push_back(event);
        }
    }

    /// Under the mutex.
    void follow(const Json& event, const Accepted& accepted) {
        const std::string& name = event["event"].as_string();
        const bool mine = event["trigger"].as_string() == accepted.trigger;
        if (name == "turn_start") {
            in_turn_ = mine;
        }
        if (name == "reloaded") {
            reply_->done(Error(Errc::unavailable,
                               "the desk was given its new configuration; trigger " +
                                   accepted.trigger + " waits and runs without you"));
            let_go();
            return;
        }
        if (name == "turn_end" && mine) {
            end(event, accepted);
            return;
        }
        // Between turns, what keeps the trigger waiting is the asker's business too.
        if (!in_turn_ && !(name == "waiting" && mine) && name != "rollover") {
            return;
        }
        if (in_turn_ && name == "text" && answer_.size() < kMaxAnswer) {
            answer_ += event["text"].as_string();
        } else if (name == "tool_call") {
            answer_.clear();  // what was said before a tool call is not the answer
        }
        if (stream_) {
            reply_->event(event);
        }
    }

    void end(const Json& event, const Accepted& accepted) {
        in_turn_ = false;
        if (stream_) {
            reply_->event(event);
        }
        Json result = accepted_json(accepted).set("settled", true);
        for (const auto& [key, value] : event.members()) {
            if (key != "event" && key != "trigger" && key != "text") {
                result.set(key, value);
            }
        }
        result.set("answer", event.has("text") ? event["text"].as_string() : answer_);
        reply_->done(std::move(result));
        let_go();
    }

    Host& host_;
    const std::shared_ptr<Desk> desk_;  // not closed while it is watched
    std::shared_ptr<Reply> reply_;
    bool stream_;
    std::atomic<bool> let_go_{false};
    std::uint64_t listener_ = 0;
    std::mutex mutex_;  // guards all below; a reply only posts, so it is used under it
    std::optional<Accepted> accepted_;
    std::vector<Json> early_;
    bool in_turn_ = false;
    std::string answer_;
};

}  // namespace

void accept_and_follow(Host& host,
                       Desk& desk,
                       const TriggerRequest& request,
                       const std::shared_ptr<Reply>& reply) {
    if (!request.wait && !request.stream) {
        auto accepted = desk.accept(request.kind, request.text, request.key, request.name);
        reply->done(accepted ? Result<Json>(accepted_json(*accepted)) : accepted.error());
        return;
    }
    const auto watch = std::make_shared<TurnWatch>(host, desk, reply, request.stream);
    watch->listen();
    auto accepted = desk.accept(request.kind, request.text, request.key, request.name);
    if (!accepted) {
        watch->let_go();
        reply->done(accepted.error());
        return;
    }
    if (accepted->duplicate && accepted->settled) {
        watch->let_go();
        reply->done(accepted_json(*accepted));
        return;
    }
    watch->start(*accepted);
}

}  // namespace daybook
