// journal verify: with the host and without.
#include "host/cli/commands.hpp"
#include "host/cli/offline_host.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

std::string place_of(const Json& finding) {
    const std::int64_t line = finding["line"].as_integer();
    return finding["file"].as_string() + (line > 0 ? ":" + std::to_string(line) : "");
}

void print_proof(const Json& desk, const Output& output) {
    const auto count = [&](const char* name) { return grouped(desk[name].as_integer()); };
    output.line(output.bold(desk["desk"].as_string()) + "  " +
                (desk["ok"].as_bool() ? output.green("ok") : output.red("broken")) + "  " +
                count("lines") + " lines of " + count("days") + " days: " + count("turns") +
                " turns, " + count("writes") + " writes, " + count("effects") + " effects, " +
                count("compressions") + " compressions with " + count("flushes") + " flushes, " +
                count("rollovers") + " rollovers, " + count("summaries") + " summaries");
    for (const Json& finding : desk["findings"].items()) {
        output.line("  " + output.red(place_of(finding)) + ": " + finding["what"].as_string());
    }
    for (const Json& note : desk["notes"].items()) {
        output.line("  " + output.dim(place_of(note) + ": " + note["what"].as_string()));
    }
}

}  // namespace

int verify_journal(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const std::string desk = !options.desk.empty()   ? options.desk
                             : options.words.empty() ? std::string()
                                                     : options.words.front();
    Json args = Json::object();
    if (!desk.empty()) {
        args.set("desk", desk);
    }
    auto result = call_either(options, *places, "journal.verify", args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
    } else {
        for (const Json& each : (*result)["desks"].items()) {
            print_proof(each, output);
        }
    }
    return (*result)["ok"].as_bool() ? 0 : exit_code_of(Errc::corrupt);
}

}  // namespace daybook::cli
