// The tables of a configuration as texts that can be compared: what changed between two files. No
// I/O.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

/// "host", "plugin.NAME", "model.NAME", "desk.NAME" -> the table's settings in a fixed order and
/// form; comments, order and layout make no difference. Errors: invalid.
Result<std::map<std::string, std::string>> config_tables(std::string_view text,
                                                         std::string_view source_name);

}  // namespace daybook
