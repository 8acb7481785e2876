// Arguments for a tool, made from its JSON Schema: such as fit it, at and between its bounds, and
// such as are no JSON at all. The same seed makes the same series. Thread: one.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "host/format/json.hpp"

namespace daybook::check {

class ArgumentMaker {
  public:
    ArgumentMaker(Json schema, std::uint64_t seed) : schema_(std::move(schema)), random_(seed) {}

    /// Made for the schema; fits it, unless it uses what this does not know (pattern, not, if):
    /// ask JsonSchema.
    Json fitting() { return make(schema_, 0); }
    /// Any bytes: cut JSON, deep JSON, odd UTF-8, NUL.
    std::string garbage();

  private:
    Json make(const Json& schema, int depth);
    Json make_object(const Json& schema, int depth);
    Json make_number(const Json& schema, bool whole);
    std::string make_text(const Json& schema);
    /// 0 to `below` - 1.
    std::uint64_t pick(std::uint64_t below) { return below == 0 ? 0 : random_() % below; }
    const Json& resolved(const Json& schema) const;

    Json schema_;
    std::mt19937_64 random_;
};

}  // namespace daybook::check
