// plugin trust: shows what a file wants, asks, and records the approval; with a host and without.
#include <filesystem>
#include <iostream>
#include <system_error>
#include <unistd.h>

#include "host/cli/commands.hpp"
#include "host/cli/offline_host.hpp"
#include "host/cli/session.hpp"

namespace daybook::cli {
namespace {

/// A path when it looks like one or is there, else a plugin's name.
Json wish_of(const std::string& word) {
    std::error_code error;
    const bool is_path = word.find('/') != std::string::npos || word.ends_with(".so") ||
                         std::filesystem::exists(word, error);
    return is_path ? Json::object().set("file", std::filesystem::absolute(word, error).string())
                   : Json::object().set("plugin", word);
}

std::string listed(const Json& list, const std::string& none) {
    std::string text;
    for (const Json& item : list.items()) {
        text += (text.empty() ? "" : ", ") + item.as_string();
    }
    return text.empty() ? none : text;
}

void print_list(const Output& output, const char* label, const Json& list) {
    if (!list.items().empty()) {
        output.line(label + listed(list, ""));
    }
}

void print_wants(const Json& look, const Output& output) {
    output.line(output.bold(look["plugin"].as_string()) + " " + look["version"].as_string());
    output.line("file      " + look["file"].as_string());
    output.line("sha256    " + look["sha256"].as_string());
    const bool scratch = look["profile"].as_string() == "scratch";
    output.line("profile   " + look["profile"].as_string() +
                (scratch ? " (may write in a scratch folder of its own, nowhere else)"
                         : " (can write nothing, connect nowhere, start nothing)"));
    output.line("asks for  " + listed(look["wants"], "nothing of the host"));
    print_list(output, "calls     ", look["calls"]);
    print_list(output, "reaches   ", look["origins"]);
    print_list(output, "starts    ", look["programs"]);
    print_list(output, "reads     ", look["reads"]);
    const Json& granted = look["granted"];
    print_list(output, "granted by the configuration, origins: ", granted["origins"]);
    print_list(output, "granted by the configuration, models at: ", granted["urls"]);
    print_list(output, "granted by the configuration, folders: ", granted["reads"]);
}

bool is_confirmed(const Options& options, const Output& output) {
    if (options.yes) {
        return true;
    }
    if (::isatty(STDIN_FILENO) == 0 || output.json()) {
        return false;
    }
    std::cerr << "let this file run as a plugin? [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

int trust_plugin(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const Json wish = wish_of(options.words.front());
    auto look = call_either(options, *places, "plugin.look", wish);
    if (!look) {
        return output.fail(look.error());
    }
    const bool trusted = (*look)["why"].as_string().empty();
    if (!output.json()) {
        print_wants(*look, output);
        output.line(trusted ? "trusted already, by the word of: " + (*look)["trusted"].as_string()
                            : output.yellow((*look)["why"].as_string()));
    }
    if (trusted) {
        if (output.json()) {
            output.object(*look);
        }
        return 0;
    }
    if (!is_confirmed(options, output)) {
        return output.fail(Error(Errc::invalid,
                                 "not confirmed: " + (*look)["file"].as_string() +
                                     " is not trusted, nothing was changed"),
                           "--yes approves it without asking");
    }
    Json args = Json::object()
                    .set("file", (*look)["file"].as_string())
                    .set("sha256", (*look)["sha256"].as_string());
    auto approved = call_either(options, *places, "plugin.trust", args);
    if (!approved) {
        return output.fail(approved.error());
    }
    if (output.json()) {
        output.object(*approved);
    } else {
        output.line(
            "trusted: the host loads it at its next start, or now with daybook plugin reload");
    }
    return 0;
}

}  // namespace daybook::cli
