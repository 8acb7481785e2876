// plugin check: becomes the conformance kit, which lies beside the runner and needs no host.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"

namespace daybook::cli {

int check_plugin(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const std::filesystem::path kit = places->runner.parent_path() / "daybook-check";
    std::vector<std::string> words = {kit.string()};
    words.insert(words.end(), options.check_words.begin(), options.check_words.end());
    if (output.json()) {
        words.emplace_back("--json");
    }
    if (!options.words.empty()) {
        words.push_back(options.words.front());
    } else if (std::find(words.begin(), words.end(), "--list") == words.end()) {
        return output.fail(Error(Errc::invalid, "plugin check: which FILE?"),
                           "name the plugin's file, or --list");
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::execv(kit.c_str(), arguments.data());
    return output.fail(
        Error(Errc::not_found,
              "start " + kit.string() + ": " + std::generic_category().message(errno)),
        "it is installed with the runner: install daybook again, whole");
}

}  // namespace daybook::cli
