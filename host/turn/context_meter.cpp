#include "host/turn/context_meter.hpp"

#include <algorithm>

namespace daybook {
namespace {

constexpr std::int64_t kStartPerThousand = 334;  // bytes / 3, rounded up
/// A token has a byte at least, whatever a server says.
constexpr std::int64_t kMostPerThousand = 1000;
/// Shorter requests are mostly a server's own frame: they say nothing about text.
constexpr std::size_t kLeastToCalibrate = 4096;

std::int64_t signed_of(std::size_t bytes) {
    return static_cast<std::int64_t>(bytes);
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

}  // namespace

std::size_t content_bytes(const Json::Array& messages) {
    std::size_t bytes = 0;
    for (const Json& message : messages) {
        bytes += message.dump().size() + 1;
    }
    return bytes;
}

std::size_t content_bytes(const Json& request) {
    return request["parts"].dump().size() + request["tools"].dump().size() +
           content_bytes(request["messages"].items());
}

std::int64_t ContextMeter::per_thousand(const std::string& model) const {
    const auto found = per_thousand_.find(model);
    return found == per_thousand_.end() ? kStartPerThousand : found->second;
}

void ContextMeter::calibrate(const std::string& model, std::int64_t tokens_per_thousand_bytes) {
    const std::int64_t now = std::min(tokens_per_thousand_bytes, kMostPerThousand);
    if (now > per_thousand(model)) {
        per_thousand_[model] = now;
    }
}

void ContextMeter::measure(const std::string& model,
                           std::int64_t tokens,
                           std::size_t bytes,
                           bool exact) {
    if (tokens <= 0) {
        return;
    }
    counted_model_ = model;
    counted_tokens_ = tokens;
    counted_bytes_ = bytes;
    if (exact && bytes >= kLeastToCalibrate) {
        calibrate(model, divided_up(tokens * 1000, signed_of(bytes)));
    }
}

std::int64_t ContextMeter::estimate(const std::string& model, std::size_t bytes) const {
    return divided_up(signed_of(bytes) * per_thousand(model), 1000);
}

std::size_t ContextMeter::bytes_of(const std::string& model, std::int64_t tokens) const {
    return tokens <= 0 ? 0 : static_cast<std::size_t>(tokens * 1000 / per_thousand(model));
}

std::int64_t ContextMeter::used(const std::string& model, std::size_t bytes) const {
    if (!is_counted(model)) {
        return estimate(model, bytes);
    }
    if (bytes >= counted_bytes_) {
        return counted_tokens_ + estimate(model, bytes - counted_bytes_);
    }
    // Something of what was counted is gone: its share.
    return divided_up(counted_tokens_ * signed_of(bytes), signed_of(counted_bytes_));
}

void ContextMeter::restore(std::span<const SessionRecord> lines) {
    for (const SessionRecord& line : lines) {
        const Json& extra = line.extra;
        if (line.kind == "answer") {
            const Json& usage = extra["usage"];
            const std::int64_t bytes = usage["bytes"].as_integer();
            if (bytes > 0) {  // an older line has none: its count cannot be gone on from
                measure(extra["model"].as_string(),
                        usage["input"].as_integer(),
                        static_cast<std::size_t>(bytes),
                        usage["exact"].as_bool());
            }
        } else if (line.kind == "compress" && extra["outcome"].as_string() == "completed") {
            forget_count();
            const std::int64_t bytes = extra["bytes"].as_integer();
            if (extra["by"].as_string() == "backend" && bytes > 0) {
                measure(extra["model"].as_string(),
                        extra["tokens"]["after"].as_integer(),
                        static_cast<std::size_t>(bytes),
                        false);
            }
        }
    }
}

}  // namespace daybook
