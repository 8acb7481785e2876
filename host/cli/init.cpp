// init: asks on a terminal, or takes flags; writes a commented configuration.
#include <iostream>
#include <unistd.h>

#include "host/cli/commands.hpp"
#include "host/cli/home_maker.hpp"
#include "host/cli/session.hpp"
#include "host/os/desk_path.hpp"

namespace daybook::cli {
namespace {

namespace fs = std::filesystem;

/// Asks on the terminal; the answer, or the fallback for an empty line.
std::string ask(const std::string& question, const std::string& fallback) {
    std::cerr << question << " [" << fallback << "] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer.empty() ? fallback : answer;
}

DeskConfig desk_of(const Options& options, const Output& output) {
    const bool asks = ::isatty(STDIN_FILENO) != 0 && !output.json() && !output.quiet();
    DeskConfig desk;
    desk.name = options.desk.empty() ? "main" : options.desk;
    desk.calendar = options.calendar;
    desk.zone = options.zone;
    std::string model = options.model;
    if (asks && desk.calendar.empty()) {
        desk.calendar = ask("Calendar of the market: nse, nyse or always?", "nse");
    }
    if (asks && desk.zone.empty()) {
        const std::string zone =
            ask("Time zone of the desk (empty: the calendar's)?", "the calendar's");
        desk.zone = zone == "the calendar's" ? "" : zone;
    }
    if (asks && model.empty()) {
        model = ask("Model? The clerk needs no network and no key.", "clerk");
    }
    desk.calendar = desk.calendar.empty() ? "always" : desk.calendar;
    desk.models = {model.empty() ? "clerk" : model};
    desk.plugins = {"memory"};
    if (!options.prices.empty()) {
        desk.plugins.emplace_back("candles");
        std::error_code error;
        const fs::path folder = fs::absolute(options.prices, error).lexically_normal();
        desk.reads.push_back(folder.has_filename() ? folder : folder.parent_path());
    }
    return desk;
}

Result<> check_answers(const DeskConfig& desk, const Places& places) {
    if (!is_plain_name(desk.name)) {
        return Error(
            Errc::invalid,
            "desk " + printable(desk.name, 64) + ": letters, digits, '.', '_' and '-', at most 64");
    }
    if (!desk.zone.empty()) {
        if (auto zone = Zone::find(desk.zone); !zone) {
            return zone.error();
        }
    }
    std::error_code ignored;
    const fs::path file = desk.calendar + ".json";
    if (!is_plain_name(desk.calendar) ||
        (!fs::exists(places.share / "calendars" / file, ignored) &&
         !fs::exists(places.state / "calendars" / file, ignored))) {
        return Error(Errc::not_found,
                     "no calendar " + printable(desk.calendar, 64) +
                         "; shipped are nse, nyse and always, and yours lie in " +
                         (places.state / "calendars").string());
    }
    if (desk.models.front() != "clerk") {
        return Error(Errc::unsupported,
                     "model " + printable(desk.models.front(), 64) +
                         ": this version ships the clerk only; write the model's table into the "
                         "configuration "
                         "once its plugin is there");
    }
    for (const fs::path& folder : desk.reads) {
        if (!fs::is_directory(folder, ignored)) {
            return Error(Errc::not_found, "price folder " + folder.string() + ": no such folder");
        }
    }
    return {};
}

}  // namespace

int make_home(const Options& options, Output& output) {
    Options with_home = options;
    if (!options.words.empty()) {
        with_home.places.home = options.words.front();
    }
    const auto places = places_of(with_home, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    std::error_code ignored;
    if (fs::exists(places->config, ignored)) {
        return output.fail(
            Error(Errc::conflict,
                  places->config.string() + " is there already and is not overwritten"),
            "edit it, or name another folder: daybook init DIR");
    }
    const DeskConfig desk = desk_of(options, output);
    if (auto good = check_answers(desk, *places); !good) {
        return output.fail(good.error());
    }
    auto made = make_home_at(*places, desk, std::nullopt);
    if (!made) {
        return output.fail(made.error());
    }
    const std::string flags = places->flags().empty() ? "" : " " + places->flags();
    const std::string start = "daybook host start" + flags;
    const std::string talk = "daybook say " + desk.name + " 'Remember: …'" + flags;
    if (output.json()) {
        Json files = Json::array();
        for (const fs::path& file : *made) {
            files.push(file.string());
        }
        output.object(Json::object()
                          .set("files", std::move(files))
                          .set("desk", desk.name)
                          .set("next", Json::array().push(start).push(talk)));
        return 0;
    }
    output.line("made");
    for (const fs::path& file : *made) {
        output.line("  " + file.string());
    }
    output.line("next");
    output.line("  " + start);
    output.line("  " + talk);
    return 0;
}

}  // namespace daybook::cli
