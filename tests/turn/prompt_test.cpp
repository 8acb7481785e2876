// The request: order of its members, budgets, and what it says of what did not fit.
#include "host/turn/prompt.hpp"

#include "host/turn/conversation.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

const Json& part(const FixedPart& fixed, std::string_view name) {
    static const Json kNone;
    for (const Json& one : fixed.parts.items()) {
        if (one["name"].as_string() == name) {
            return one["text"];
        }
    }
    return kNone;
}

std::string lines(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += "- 10:00 lesson number " + std::to_string(i) + "\n";
    }
    return text;
}

Json message(const std::string& role, const std::string& text) {
    return Json::object().set("role", role).set("text", text);
}

}  // namespace

TEST_CASE("the parts stand in the order of the page, stable ones first", "[turn]") {
    FixedSources sources;
    sources.instructions = "be brief";
    SkillManifest skill{"candles", "Prices.", "Ask for few."};
    sources.skills = {&skill};
    sources.memory = "a fact";
    sources.notes = "- 09:31 a note\n";
    sources.summary = "yesterday";
    const FixedPart fixed = build_fixed_part(sources);
    std::vector<std::string> names;
    for (const Json& one : fixed.parts.items()) {
        names.push_back(one["name"].as_string());
    }
    CHECK(names ==
          std::vector<std::string>{"instructions", "skills", "memory", "notes", "summary"});
    CHECK(part(fixed, "skills").as_string() == "## candles\nPrices.\nAsk for few.\n");
    CHECK(fixed.left_out.empty());
    CHECK(fixed.memory_is_whole);
    CHECK(fixed.notes_are_whole);
}

TEST_CASE("memory keeps its head, notes their newest lines, and both say what is missing (M23)",
          "[turn]") {
    FixedSources sources;
    sources.memory = lines(3000);
    sources.notes = lines(3000);
    const FixedPart fixed = build_fixed_part(sources);
    CHECK_FALSE(fixed.memory_is_whole);
    CHECK_FALSE(fixed.notes_are_whole);
    const std::string& memory = part(fixed, "memory").as_string();
    const std::string& notes = part(fixed, "notes").as_string();
    CHECK(memory.size() == kMemoryBudget);
    CHECK(memory.starts_with("- 10:00 lesson number 0\n"));
    CHECK(notes.size() <= kNotesBudget);
    CHECK(notes.starts_with("- 10:00 lesson"));
    CHECK(notes.ends_with("lesson number 2999\n"));
    REQUIRE(fixed.left_out.size() == 2);
    CHECK(fixed.left_out[0] ==
          "memory: 24,576 of " + grouped(sources.memory->size()) + " bytes shown");
    CHECK(fixed.left_out[1] == "notes: " + grouped(notes.size()) + " of " +
                                   grouped(sources.notes->size()) + " bytes shown");
}

TEST_CASE("a skill is shown whole or named as left out", "[turn]") {
    SkillManifest first{"one", "First.", std::string(3000, 'a')};
    SkillManifest second{"two", "Second.", std::string(3000, 'b')};
    SkillManifest third{"three", "Third.", "short"};
    FixedSources sources;
    sources.skills = {&first, &second, &third};
    const FixedPart fixed = build_fixed_part(sources);
    const std::string& text = part(fixed, "skills").as_string();
    CHECK(text.find("## one") != std::string::npos);
    CHECK(text.find("## two") == std::string::npos);
    CHECK(text.find("## three") != std::string::npos);
    CHECK(fixed.left_out == std::vector<std::string>{"skills: 2 of 3 shown"});
}

TEST_CASE("comments of Memory.md are not shown; an unclosed one hides nothing", "[turn]") {
    CHECK(without_comments("a <!-- b\nc --> d<!---->e") == "a  de");
    CHECK(without_comments("a <!-- never closed") == "a <!-- never closed");
    CHECK(without_comments("<!-- x --><!-- y -->z") == "z");
}

TEST_CASE("the request has its members in the page's order", "[turn]") {
    const FixedPart fixed = build_fixed_part({});
    RequestFrame frame;
    frame.desk = "main";
    frame.fixed = &fixed;
    frame.day = must(DeskDate::parse("2019-01-02"));
    std::vector<std::string> left_out{"notes: 1 of 2 bytes shown"};
    const Json request =
        build_request(frame, {message("user", "old")}, {message("user", "new")}, 1000, left_out);
    std::vector<std::string> names;
    for (const auto& [name, value] : request.members()) {
        names.push_back(name);
    }
    CHECK(names == std::vector<std::string>{"v",
                                            "desk",
                                            "turn",
                                            "kind",
                                            "session",
                                            "day",
                                            "now",
                                            "model",
                                            "config",
                                            "window",
                                            "max_output_tokens",
                                            "resume",
                                            "parts",
                                            "left_out",
                                            "tools",
                                            "messages"});
    CHECK(request["resume"].is_null());
    CHECK(request["left_out"].items().size() == 1);
    CHECK(request["messages"].items().back()["text"].as_string() == "new");
    CHECK(request["day"].as_string() == "2019-01-02");
}

TEST_CASE(
    "a turn that outgrows its budget loses its oldest rounds, never its trigger nor its newest "
    "round",
    "[turn]") {
    Json::Array live{message("user", "the trigger")};
    for (int i = 0; i < 10; ++i) {
        live.push_back(assistant_message("round " + std::to_string(i),
                                         {Json::object().set("id", "c" + std::to_string(i))}));
        live.push_back(tool_message("c" + std::to_string(i), "price", "ok", std::string(500, 'x')));
    }
    for (const std::size_t budget :
         {std::size_t{10}, std::size_t{2000}, std::size_t{4000}, std::size_t{100000}}) {
        INFO(budget);
        std::vector<std::string> left_out;
        const Json request = build_request({}, {}, live, budget, left_out);
        const auto& messages = request["messages"].items();
        CHECK(messages.front()["text"].as_string() == "the trigger");
        CHECK(messages.back()["id"].as_string() == "c9");
        CHECK(messages[messages.size() - 2]["tool_calls"].items().size() == 1);
        CHECK(messages.size() % 2 == 1);
        CHECK(left_out.empty() == (messages.size() == live.size()));
        CHECK((budget < 100000) == (messages.size() < live.size()));
    }
}

TEST_CASE("a tool whose schema is no object is listed with an empty one", "[turn]") {
    ToolManifest good{"a", "A.", R"({"type":"object"})", {}, {}, {}, false};
    ToolManifest odd{"b", "B.", "true", {}, {}, {}, false};
    const std::vector<ToolOffer> offers{{nullptr, &good}, {nullptr, &odd}};
    const Json tools = describe_tools(offers);
    CHECK(tools.items()[0]["input_schema"]["type"].as_string() == "object");
    CHECK(tools.items()[1]["input_schema"] == Json::object());
}
