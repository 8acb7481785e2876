// checkpoint verify, du, backup, restore-home: what works with the host and without.
#include "host/cli/commands.hpp"
#include "host/cli/offline_host.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

std::string chosen_desk(const Options& options) {
    return !options.desk.empty()   ? options.desk
           : options.words.empty() ? std::string()
                                   : options.words.front();
}

Json desk_args(const Options& options) {
    Json args = Json::object();
    if (const std::string desk = chosen_desk(options); !desk.empty()) {
        args.set("desk", desk);
    }
    return args;
}

/// The host has another working directory. What ends in "/" keeps it: a folder is meant.
std::filesystem::path absolute(const std::string& word) {
    std::error_code error;
    return std::filesystem::absolute(word, error);
}

void print_desk(const Json& desk, const Output& output) {
    const auto count = [&](const char* name) { return grouped(desk[name].as_integer()); };
    output.line(output.bold(desk["desk"].as_string()) + "  " +
                (desk["ok"].as_bool() ? output.green("ok") : output.red("damaged")) + "  " +
                count("checkpoints") + " checkpoints, newest " +
                (desk["newest"].as_string().empty() ? "none" : desk["newest"].as_string()) + "; " +
                count("loose") + " loose objects, " + count("packed") + " in " + count("packs") +
                " packs");
    for (const Json& finding : desk["findings"].items()) {
        output.line("  " + output.red(finding["what"].as_string()));
        output.line("    " + finding["todo"].as_string());
    }
    for (const Json& note : desk["notes"].items()) {
        output.line("  " + note.as_string());
    }
}

void add_parts(const Json& from, const std::string& name, Table& table) {
    for (const Json& part : from["parts"].items()) {
        table.add({name,
                   part["name"].as_string(),
                   grouped(part["files"].as_integer()),
                   size_text(part["bytes"].as_integer()),
                   size_text(part["on_disk"].as_integer())});
    }
}

}  // namespace

int verify_checkpoints(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    auto result = call_either(options, *places, "checkpoint.verify", desk_args(options));
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
    } else {
        for (const Json& desk : (*result)["desks"].items()) {
            print_desk(desk, output);
        }
    }
    return (*result)["ok"].as_bool() ? 0 : exit_code_of(Errc::corrupt);
}

int show_usage(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    auto result = call_either(options, *places, "home.usage", desk_args(options));
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
        return 0;
    }
    Table table({"WHERE", "WHAT", "FILES", "BYTES", "ON DISK"});
    for (const Json& desk : (*result)["desks"].items()) {
        add_parts(desk, desk["desk"].as_string(), table);
    }
    add_parts(*result, "home", table);
    output.raw(table.str());
    output.line("together " + size_text((*result)["bytes"].as_integer()) + ", " +
                size_text((*result)["on_disk"].as_integer()) + " on disk");
    return 0;
}

int back_up_home(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const Json args = Json::object()
                          .set("to", absolute(options.words.front()).string())
                          .set("keys", options.keys);
    auto result = call_either(options, *places, "home.backup", args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
        return 0;
    }
    for (const Json& each : (*result)["left_out"].items()) {
        output.say("not in it: " + each.as_string());
    }
    output.line("backed up to " + (*result)["to"].as_string() + ": " +
                grouped((*result)["files"].as_integer()) + " files, " +
                size_text((*result)["bytes"].as_integer()) +
                ((*result)["keys"].as_bool() ? ", with keys" : ""));
    return 0;
}

int restore_home(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const Json args = Json::object().set("from", absolute(options.words.front()).string());
    auto result = call_once(*places, options.places, "home.restore", args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
    } else {
        for (const Json& desk : (*result)["desks"].items()) {
            print_desk(desk, output);
        }
        output.line("restored the home of " + (*result)["at"].as_string().substr(0, 19) +
                    "Z: " + grouped((*result)["files"].as_integer()) + " files, " +
                    size_text((*result)["bytes"].as_integer()));
        output.say("start it with: " + same_host(options, "host start"));
    }
    return (*result)["ok"].as_bool() ? 0 : exit_code_of(Errc::corrupt);
}

}  // namespace daybook::cli
