// Whether a JSON Schema is itself well formed, and the parts of it that both compiling and checking
// need.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/format/text_pattern.hpp"

namespace daybook {

/// Compiled patterns of a schema by their text.
using SchemaPatterns = std::map<std::string, TextPattern, std::less<>>;

/// The schema that "#/definitions/x" names inside the root, or nullptr.
[[nodiscard]] const Json* resolve_reference(const Json& root, std::string_view reference);

/// Checks every keyword that JsonSchema reads and compiles the patterns.
/// Errors: invalid.
Result<> check_schema_shape(const Json& root, SchemaPatterns& patterns);

}  // namespace daybook
