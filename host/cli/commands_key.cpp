// key set, list, remove. Works on the files itself, so that no host is needed; a running one reads
// a credential whenever it is used.
#include <iostream>
#include <iterator>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/os/key_files.hpp"

namespace daybook::cli {

int set_key(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    output.say("reading the credential from standard input");
    std::string value;
    std::getline(std::cin, value);
    LinuxOs os;
    const std::string& name = options.words.front();
    if (auto set = KeyFiles(os, places->state / "keys").set(name, value); !set) {
        return output.fail(
            set.error(),
            set.error().code() == Errc::not_found ? "make a home first: daybook init" : "");
    }
    if (output.json()) {
        output.object(Json::object().set("set", name));
    } else {
        output.line("credential " + name + " is set; name it with credential = \"" + name + "\"");
    }
    return 0;
}

int list_keys(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    LinuxOs os;
    const auto names = KeyFiles(os, places->state / "keys").list();
    if (!names) {
        return output.fail(names.error());
    }
    Json list = Json::array();
    for (const std::string& name : *names) {
        list.push(name);
        if (!output.json()) {
            output.line(name);
        }
    }
    if (output.json()) {
        output.object(Json::object().set("credentials", std::move(list)));
    }
    return 0;
}

int remove_key(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    LinuxOs os;
    const std::string& name = options.words.front();
    if (auto removed = KeyFiles(os, places->state / "keys").remove(name); !removed) {
        return output.fail(removed.error());
    }
    if (output.json()) {
        output.object(Json::object().set("removed", name));
    } else {
        output.line("credential " + name + " is removed");
    }
    return 0;
}

}  // namespace daybook::cli
