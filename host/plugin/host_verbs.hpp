// How the verbs of one call are served, a file a group; host_calls.cpp finds the group and checks
// the leash. Thread: [desk].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/plugin/host_calls.hpp"

namespace daybook::verbs {

/// Fields of a verb's request, after its id and name.
using Arguments = std::vector<std::string>;

/// What a verb works on, beside its arguments.
struct VerbCall {
    const VerbContext& context;
    ShownFiles& own_shown;  ///< what the call read of the file that it may write
    Leash& leash;
    CallOutcome& outcome;
    std::string_view verb;      ///< "desk-files/1.read", for messages
    std::string_view function;  ///< "read"
};

[[nodiscard]] Error invalid(std::string_view verb, const std::string& what);
[[nodiscard]] Error not_served(std::string_view verb);
/// Errors: invalid.
Result<> want_count(std::string_view verb, const Arguments& arguments, std::size_t count);
/// A short text of one line that stands for the same thing whenever it is said again.
[[nodiscard]] bool is_key_text(std::string_view text);
inline constexpr std::size_t kMaxKey = 200;
/// Keys are one space for the whole journal: a plugin's stay below its own name, so that it can
/// take neither another plugin's nor one of the host's ("intent:…", "rollover:…"), whose record
/// would then be dropped as a repeat.
[[nodiscard]] std::string own_key(const std::string& plugin, const std::string& key);

Result<std::string> serve_files(const VerbCall& call, const Arguments& arguments);
Result<std::string> serve_clock(const VerbCall& call, const Arguments& arguments);
Result<std::string> serve_scratch(const VerbCall& call, const Arguments& arguments);
Result<std::string> serve_history(const VerbCall& call, const Arguments& arguments);
Result<std::string> serve_triggers(const VerbCall& call, const Arguments& arguments);
Result<std::string> serve_journal(const VerbCall& call, const Arguments& arguments);

}  // namespace daybook::verbs
