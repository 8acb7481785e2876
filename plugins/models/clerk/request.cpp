#include "plugins/models/clerk/request.hpp"

#include <algorithm>

#include <daybook/json.hpp>

namespace daybook::clerk {

namespace {

std::vector<std::string_view> items_or_none(std::string_view json) {
    return json.empty() ? std::vector<std::string_view>() : json::items_of(json);
}

void read_parts(Request& request, const json::ObjectReader& in) {
    for (const auto item : items_or_none(in.raw("parts"))) {
        const json::ObjectReader part(item);
        const std::string name = part.text("name");
        if (name == "notes") {
            request.notes = part.text("text");
        } else if (name == "memory") {
            request.memory = part.text("text");
        }
    }
    for (const auto item : items_or_none(in.raw("left_out"))) {
        const std::string sentence = json::text_of(item).value_or("");
        request.notes_are_cut = request.notes_are_cut || sentence.starts_with("notes:");
        request.memory_is_cut = request.memory_is_cut || sentence.starts_with("memory:");
    }
}

/// The trigger is the last user message; what follows it belongs to this turn.
void read_messages(Request& request, const json::ObjectReader& in) {
    for (const auto item : items_or_none(in.raw("messages"))) {
        const json::ObjectReader message(item);
        const std::string role = message.text("role");
        if (role == "user") {
            request.source = message.text("source");
            request.name = message.text("name");
            request.text = message.text("text");
            request.results.clear();
        } else if (role == "tool") {
            request.results.push_back(
                {message.text("name"), message.text("status") == "ok", message.text("text")});
        }
    }
}

}  // namespace

bool Request::has_tool(std::string_view tool) const {
    return std::find(tools.begin(), tools.end(), tool) != tools.end();
}

Request parse_request(std::string_view json) {
    const json::ObjectReader in(json);
    Request request;
    request.turn = in.text("turn");
    request.kind = in.text("kind");
    request.day = in.text("day");
    request.now = in.text("now");
    read_parts(request, in);
    for (const auto item : items_or_none(in.raw("tools"))) {
        request.tools.push_back(json::ObjectReader(item).text("name"));
    }
    read_messages(request, in);
    return request;
}

}  // namespace daybook::clerk
