// How full a model's window is: the server's count at the last call plus an estimate of what came
// since.
//
// The estimate starts at bytes / 3 and is calibrated, for each model, upwards only. A count of zero
// is no measurement. What is counted is a request's content: its parts, tools and messages as JSON
// (content_bytes). Rules: docs/turns.md, "The meter". No I/O. Thread: [desk].
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "host/format/json.hpp"
#include "host/format/session_record.hpp"

namespace daybook {

/// Assumed when a backend does not tell its window.
inline constexpr std::int64_t kAssumedWindow = 32768;
/// Kept free for the answer.
inline constexpr std::int64_t kAnswerTokens = 2048;
/// Percent of the window: over the first a turn is preceded by a compression, over the second one
/// is made in its middle.
inline constexpr std::int64_t kCompressAt = 70;
inline constexpr std::int64_t kCompressNow = 85;

/// `window` as the backend told it, else the assumed one.
[[nodiscard]] constexpr std::int64_t window_or_assumed(std::int64_t window) noexcept {
    return window > 0 ? window : kAssumedWindow;
}
/// Whether `used` tokens are over `percent` of the window.
[[nodiscard]] constexpr bool is_over(std::int64_t used,
                                     std::int64_t window,
                                     std::int64_t percent) noexcept {
    return used * 100 > window_or_assumed(window) * percent;
}

/// Bytes of what a request says to the model.
[[nodiscard]] std::size_t content_bytes(const Json& request);
[[nodiscard]] std::size_t content_bytes(const Json::Array& messages);

class ContextMeter {
  public:
    /// The count of one call: `tokens` of a request whose content had `bytes`. Tokens below 1 are
    /// no measurement. Only an exact count calibrates the estimate.
    void measure(const std::string& model, std::int64_t tokens, std::size_t bytes, bool exact);
    /// The conversation was replaced: the last count tells nothing about it. Calibration stays.
    void forget_count() noexcept { counted_tokens_ = 0; }

    /// Tokens of so many bytes, by the estimate alone.
    [[nodiscard]] std::int64_t estimate(const std::string& model, std::size_t bytes) const;
    /// Tokens of a request of so many bytes, from the last count of the same model where there is
    /// one.
    [[nodiscard]] std::int64_t used(const std::string& model, std::size_t bytes) const;
    /// Whether used() rests on a count.
    [[nodiscard]] bool is_counted(const std::string& model) const {
        return counted_tokens_ > 0 && counted_model_ == model;
    }
    /// Bytes that fit into so many tokens, by the estimate.
    [[nodiscard]] std::size_t bytes_of(const std::string& model, std::int64_t tokens) const;

    /// Takes up what the lines of a session tell: the counts in its answers, its compressions.
    void restore(std::span<const SessionRecord> lines);
    /// Model -> tokens of 1,000 bytes, where the estimate was raised.
    [[nodiscard]] const std::map<std::string, std::int64_t>& calibration() const noexcept {
        return per_thousand_;
    }
    void calibrate(const std::string& model, std::int64_t tokens_per_thousand_bytes);

  private:
    [[nodiscard]] std::int64_t per_thousand(const std::string& model) const;

    std::string counted_model_;
    std::int64_t counted_tokens_ = 0;  // 0 = never counted
    std::size_t counted_bytes_ = 0;
    std::map<std::string, std::int64_t> per_thousand_;
};

}  // namespace daybook
