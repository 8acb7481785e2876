// What a plugin asks of process/1, as bytes: checked, never trusted.
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/plugin/child_programs.hpp"

namespace daybook {

struct ProcessStart {
    ChildPrograms::Ask ask;
    std::string on_cancel = "keep";  ///< keep, interrupt, end
};

/// The options of process/1.start (sdk/include/daybook/ext/process.h). Errors: invalid, full.
Result<ProcessStart> read_process_start(std::string_view options_json);

}  // namespace daybook
