#include "host/cli/session.hpp"

#include <utility>

namespace daybook::cli {

std::optional<Places> places_of(const Options& options, Output& output) {
    auto places = find_places(options.places, Surroundings::of_process());
    if (!places) {
        output.fail(places.error());
        return std::nullopt;
    }
    return std::move(*places);
}

std::string same_host(const Options& options, const std::string& words) {
    std::string line = "daybook " + words;
    if (auto places = find_places(options.places, Surroundings::of_process());
        places && options.places.home) {
        line += " " + places->flags();
    }
    if (options.places.config) {
        line += " --config " + shell_word(options.places.config->string());
    }
    if (options.places.socket) {
        line += " --socket " + shell_word(options.places.socket->string());
    }
    return line;
}

Connected::Connected(const Options& options, Output& output) {
    auto places = places_of(options, output);
    if (!places) {
        code_ = exit_code_of(Errc::invalid);
        return;
    }
    places_ = std::move(*places);
    auto client = Client::connect(places_);
    if (!client) {
        code_ = output.fail(client.error(), connect_hint(client.error(), places_));
        return;
    }
    client_ = std::move(*client);
}

Result<DeskWords> take_desk(Client& client, const Options& options, std::size_t fixed) {
    DeskWords words{options.desk, options.words};
    if (!words.desk.empty()) {
        return words;
    }
    if (words.rest.size() > fixed) {
        words.desk = words.rest.front();
        words.rest.erase(words.rest.begin());
        return words;
    }
    auto listed = client.call("desk.list", Json::object());
    if (!listed) {
        return listed.error();
    }
    const auto& desks = (*listed)["desks"].items();
    if (desks.size() != 1) {
        std::string names;
        for (const Json& desk : desks) {
            names += (names.empty() ? "" : ", ") + desk["name"].as_string();
        }
        return Error(Errc::invalid,
                     "which desk? " + (names.empty() ? std::string("The host has none") : names) +
                         "; name it as the first word, or with --desk");
    }
    words.desk = desks.front()["name"].as_string();
    return words;
}

}  // namespace daybook::cli
