#include "tests/plugins/desk_loop.hpp"

#include <stdexcept>

#include <daybook/json.hpp>

namespace daybook::test {

namespace {

std::string source_of(const std::string& kind) {
    return kind == "message" ? "owner" : kind == "summary" ? "host" : kind;
}

std::string tool_list(const std::vector<std::string>& tools) {
    json::ArrayWriter list;
    for (const auto& tool : tools) {
        list.add_raw(json::ObjectWriter().add("name", tool).str());
    }
    return list.str();
}

std::string part(const std::string& name, const std::string& text) {
    return json::ObjectWriter().add("name", name).add("text", text).str();
}

}  // namespace

DeskLoop::DeskLoop(const std::string& local) {
    const std::string prices =
        std::string(R"({"folders":[")") + DAYBOOK_SOURCE_DIR + R"(/demo/prices"]})";
    if (!memory.open("memory").empty() || !candles.open("candles", prices).empty() ||
        !clerk.open("clerk").empty()) {
        throw std::runtime_error("a plugin did not open");
    }
    set_now(local);
}

void DeskLoop::set_now(const std::string& local) {
    local_ = local;
    memory.set_now(local);
    candles.set_now(local);
}

std::string DeskLoop::request(const std::string& kind) const {
    const std::string day = local_.substr(0, 10);
    const auto text_of = [&](const std::string& path) {
        const auto file = memory.files.find(path);
        return file == memory.files.end() ? std::string() : file->second;
    };
    json::ArrayWriter parts;
    parts.add_raw(part("memory", text_of("Memory.md")));
    parts.add_raw(part("notes", text_of("notes/" + day + ".md")));
    json::ArrayWriter messages;
    for (const auto& message : messages_) {
        messages.add_raw(message);
    }
    return json::ObjectWriter()
        .add("v", 1)
        .add("turn", "t-" + std::to_string(turns_))
        .add("kind", kind)
        .add("day", day)
        .add("now", local_ + "+05:30")
        .add_raw("parts", parts.str())
        .add_raw("left_out", "[]")
        .add_raw("tools", tool_list(tools))
        .add_raw("messages", messages.str())
        .str();
}

void DeskLoop::answer_call(const StreamedCall& call) {
    called.push_back(call.name + " " + call.arguments);
    FakeHost& host = call.name == "price" || call.name == "candles" ? candles : memory;
    Outcome outcome;
    if (const auto rule =
            content_rule && call.name == "add_note" ? content_rule(call.arguments) : std::nullopt) {
        outcome.status = DAYBOOK_REFUSED;
        outcome.message = *rule;
    } else {
        outcome = host.call(call.name, call.arguments);
    }
    messages_.push_back(json::ObjectWriter()
                            .add("role", "tool")
                            .add("id", call.id)
                            .add("name", call.name)
                            .add("status", outcome.ok() ? "ok" : "refused")
                            .add("text",
                                 outcome.ok() ? outcome.json
                                              : json::ObjectWriter()
                                                    .add("error", "refused")
                                                    .add("message", outcome.message)
                                                    .str())
                            .str());
}

std::string DeskLoop::run(const std::string& kind,
                          const std::string& text,
                          const std::string& name) {
    ++turns_;
    called.clear();
    json::ObjectWriter user;
    user.add("role", "user").add("source", source_of(kind)).add("kind", kind);
    if (!name.empty()) {
        user.add("name", name);
    }
    messages_.push_back(user.add("text", text).str());
    for (int round = 0; round < 5; ++round) {
        const Turn turn = clerk.turn(request(kind));
        const bool wants_tools = !turn.calls.empty();
        const std::string reason = wants_tools ? "tool_calls" : "completed";
        if (!turn.outcome.ok() || turn.ends != std::vector<std::string>{reason} ||
            !turn.error_classes.empty() || !turn.usage || turn.usage->exact != 0) {
            throw std::runtime_error("the stream broke its rules: " + turn.error_message);
        }
        if (!wants_tools) {
            messages_.push_back(
                json::ObjectWriter().add("role", "assistant").add("text", turn.text).str());
            return turn.text;
        }
        for (const auto& call : turn.calls) {
            answer_call(call);
        }
    }
    throw std::runtime_error("the turn does not end: " + text);
}

std::string request_of(const std::string& kind,
                       const std::string& source,
                       const std::string& text,
                       const std::vector<std::string>& tools,
                       const std::string& more_messages) {
    const std::string user = json::ObjectWriter()
                                 .add("role", "user")
                                 .add("source", source)
                                 .add("kind", kind)
                                 .add("text", text)
                                 .str();
    return json::ObjectWriter()
        .add("turn", "t-1")
        .add("kind", kind)
        .add("day", "2019-01-02")
        .add_raw("tools", tool_list(tools))
        .add_raw("messages", "[" + user + (more_messages.empty() ? "" : "," + more_messages) + "]")
        .str();
}

}  // namespace daybook::test
