// The checks of the conformance kit, each by an id in kebab case. A check runs in a process of its
// own; it says "" when all is well, else what was wanted, what was found and what to do.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/check/check_host.hpp"

namespace daybook::check {

struct Verdict {
    enum class State { pass, fail, skip } state = State::pass;
    std::string text;  ///< of fail and skip
};

struct Check {
    std::string_view id;
    int level = 1;  ///< 1: loads and answers; 2: also tidy; 3: also under abuse
    std::string_view what;
    Verdict (*run)(const Subject& subject);
};

[[nodiscard]] inline Verdict pass() {
    return {};
}
[[nodiscard]] inline Verdict fail(std::string text) {
    return {Verdict::State::fail, std::move(text)};
}
[[nodiscard]] inline Verdict skip(std::string text) {
    return {Verdict::State::skip, std::move(text)};
}

/// Of the file's bytes, of its calls, of its models, of the table behind its entry.
[[nodiscard]] std::span<const Check> file_checks();
[[nodiscard]] std::span<const Check> call_checks();
[[nodiscard]] std::span<const Check> model_checks();
/// These load the plugin into the check's own process, behind the runner's own walls.
[[nodiscard]] std::span<const Check> direct_checks();

}  // namespace daybook::check
