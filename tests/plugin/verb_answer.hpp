// What a verb is answered, whether it is served at once or later.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/plugin/call.hpp"

namespace daybook::test {

/// For a verb that is answered without anything else happening first.
inline Result<std::string> answer_of(VerbServer& verbs,
                                     Leash& leash,
                                     const std::string& verb,
                                     const std::vector<std::string>& arguments,
                                     CallOutcome& outcome) {
    std::optional<Result<std::string>> later;
    const auto keep = [&](Result<std::string> answer) { later = std::move(answer); };
    if (!verbs.serve_later(leash, verb, arguments, outcome, keep)) {
        return verbs.serve(leash, verb, arguments, outcome);
    }
    return later ? *later : Result<std::string>(Error(Errc::internal, "not answered at once"));
}

}  // namespace daybook::test
