// Reads a request's arguments: kinds, bounds and names are checked, an unknown one is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

class Args {
  public:
    explicit Args(const Json& args) : args_(args) {}

    /// A text that must be there, at most `max_bytes`.
    std::string text(std::string_view key, std::size_t max_bytes = 64UL * 1024);
    std::string text_or(std::string_view key,
                        std::string_view fallback,
                        std::size_t max_bytes = 64UL * 1024);
    /// A name that may stand in a path of ours (is_plain_name): of a desk, session, plugin or
    /// checkpoint.
    std::string name(std::string_view key);
    std::string name_or(std::string_view key, std::string_view fallback);
    std::int64_t integer_or(std::string_view key,
                            std::int64_t fallback,
                            std::int64_t least,
                            std::int64_t most);
    bool flag(std::string_view key);
    std::vector<std::string> texts(std::string_view key);
    /// Any value, null when missing.
    const Json& value(std::string_view key);

    /// The first thing that was wrong, or an argument that nobody asked for. Call when all are
    /// read.
    [[nodiscard]] std::optional<Error> wrong() const;

  private:
    const Json& take(std::string_view key);
    void note(std::string_view key, std::string_view problem);

    const Json& args_;
    std::vector<std::string> known_;
    std::optional<Error> wrong_;
};

}  // namespace daybook
