// What the two sides of an HTTP exchange share: the caller's on any thread, the transfer's on the
// I/O thread. For http_client.cpp only. No I/O here.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/http_client.hpp"

namespace daybook {

/// Takes a secret (not empty) out of a stream of bytes, also where it is cut between two pieces.
class SecretMask {
  public:
    explicit SecretMask(std::string secret) : secret_(std::move(secret)) {}
    /// What may be passed on of the bytes; an end that may begin the secret is kept back.
    std::string take(std::string_view bytes);
    /// What was kept back.
    std::string rest() { return std::exchange(kept_, {}); }

  private:
    std::string secret_;
    std::string kept_;
};

/// Thread: [any].
class HttpFlow {
  public:
    /// Bytes of the answer that may wait before the transfer is paused, and below which it goes on.
    static constexpr std::size_t kHighWater = 256UL * 1024;
    static constexpr std::size_t kLowWater = 64UL * 1024;

    HttpFlow(const HttpRequest& request, std::function<void()> on_change);

    // --- the caller's
    [[nodiscard]] std::optional<Result<HttpHead>> head() const;
    /// `resumes` is set when the transfer was paused and should go on.
    std::optional<Result<std::string>> take(std::size_t max, bool& resumes);
    /// `resumes` is set when the upload waited for bytes.
    Result<bool> offer(std::string_view bytes, bool last, bool& resumes);
    void cancel();

    // --- the transfer's
    void set_head(HttpHead head);
    /// Returns whether the transfer should be paused.
    bool add_body(std::string_view bytes);
    /// The exchange is over; nullopt: well. The first end counts.
    void end(std::optional<Error> error);
    /// Bytes of the upload; nullopt: none now. "" with `last` taken: its end.
    std::optional<std::string> next_upload(std::size_t max);
    /// Begins the upload again; false when what went is gone.
    bool rewind_upload();
    [[nodiscard]] bool is_paused() const;
    [[nodiscard]] bool is_cancelled() const;

  private:
    void notify_locked() const;

    mutable std::mutex mutex_;  // guards everything below; on_change only posts
    std::function<void()> on_change_;
    std::vector<SecretMask> masks_;
    std::optional<HttpHead> head_;
    std::string body_;
    std::size_t body_begin_ = 0;
    bool ended_ = false;
    std::optional<Error> error_;
    bool cancelled_ = false;
    bool paused_ = false;
    std::string upload_;
    std::size_t upload_begin_ = 0;
    const bool keeps_upload_;  ///< the body was given whole: it can be sent again
    bool upload_last_ = false;
    bool upload_starved_ = false;
};

}  // namespace daybook
