// The answer to one request: any number of events, then exactly one outcome.
//
// Handlers hold it by shared_ptr and may answer later, from any thread. If the last holder lets go
// without an outcome, the asker is told so. Line forms: docs/api.md.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

class Reply {
  public:
    /// Takes a line without its newline; `last` with the outcome. Called under no lock; must not
    /// block. Thread: [any].
    using Send = std::function<void(std::string line, bool last)>;

    /// `id` is the request's own and is given back as it came.
    Reply(Json id, Send send);
    ~Reply();
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;
    Reply(Reply&&) = delete;
    Reply& operator=(Reply&&) = delete;

    /// {"id":N,"event":…}. `event` is an object with a member "event". Dropped after the outcome.
    /// Thread: [any].
    void event(const Json& event);
    /// {"id":N,"ok":true,"result":…} or {"id":N,"ok":false,"error":{…}}. Only the first counts.
    /// Thread: [any].
    void done(Result<Json> outcome);
    /// Runs when the asker goes before the outcome; at once when it is gone already. Forgotten with
    /// the outcome.
    void on_gone(std::function<void()> hook);
    /// The asker is gone: runs the hook, drops everything later. Thread: [io].
    void abandon();
    /// Whether nothing more can be said: outcome given, or asker gone.
    [[nodiscard]] bool is_over() const;

  private:
    bool close(std::function<void()>* hook);

    Json id_;
    Send send_;
    mutable std::mutex mutex_;  // guards over_ and hook_
    bool over_ = false;
    bool gone_ = false;
    std::function<void()> hook_;
};

/// {"code":"not_found","message":"…","exit":4,"retryable":false}
[[nodiscard]] Json error_json(const Error& error);
/// A whole error line for a request that could not be read (`id` null) or taken.
[[nodiscard]] std::string error_line(const Json& id, const Error& error);

}  // namespace daybook
