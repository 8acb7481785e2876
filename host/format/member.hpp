// Reading the members of a JSON object that is expected to have a certain shape.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

/// Reads members of one object; the first that is missing or of the wrong kind is kept as the
/// error, later reads go on with fallbacks, so that a reader checks once at the end. `what` stands
/// in front of messages and outlives the reader.
class MemberReader {
  public:
    MemberReader(const Json& object, std::string_view what);

    /// Must be there. An empty string is fine.
    std::string text(std::string_view key);
    /// null or missing reads as "".
    std::string optional_text(std::string_view key);
    /// Must be there and at least `low`.
    std::int64_t integer(std::string_view key, std::int64_t low);
    std::int64_t optional_integer(std::string_view key, std::int64_t low, std::int64_t fallback);
    bool optional_boolean(std::string_view key, bool fallback);
    /// Missing reads as an empty object.
    Json optional_object(std::string_view key);
    /// Must be an array when it is there; missing reads as empty.
    const Json::Array& optional_items(std::string_view key);

    /// Keeps an error of the caller's unless there is one already.
    void fail(std::string_view key, std::string_view expected);
    /// Done: the first error, or nothing.
    [[nodiscard]] Result<> outcome() const;

  private:
    const Json& object_;
    std::string_view what_;
    std::string problem_;
};

}  // namespace daybook
