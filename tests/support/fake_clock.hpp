// A clock that a test sets, forwards and backwards.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string_view>

#include "host/os/clock.hpp"

namespace daybook::test {

/// Thread: [any].
class FakeClock final : public Clock {
  public:
    /// RFC 3339, such as "2026-10-19T06:02:11Z".
    explicit FakeClock(std::string_view start) { set(start); }

    [[nodiscard]] Timestamp now() const override {
        return Timestamp(std::chrono::nanoseconds(now_.load()));
    }
    void set(std::string_view text) { now_ = at(text).time_since_epoch().count(); }
    void advance(std::chrono::nanoseconds by) { now_ += by.count(); }

    static Timestamp at(std::string_view text) {
        auto parsed = parse_rfc3339(text);
        if (!parsed) {
            throw std::invalid_argument(parsed.error().message());
        }
        return *parsed;
    }

  private:
    std::atomic<std::int64_t> now_{0};
};

}  // namespace daybook::test
