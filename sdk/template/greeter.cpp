// A whole tool plugin: one tool that greets somebody and, when asked to, leaves a note about it.
#include <string>
#include <string_view>

#include <daybook/plugin.hpp>

namespace {

namespace json = daybook::json;

// One object for each desk that uses the plugin, made from its configuration:
//   [plugin.greeter.config]
//   greeting = "Good morning"
class Greeter {
  public:
    explicit Greeter(std::string_view config)
        : greeting_(json::ObjectReader(config).text("greeting", "Hello")) {}

    // The host has checked `args` against the schema below. Whatever throws ends the call as a
    // failure.
    std::string greet(daybook::Call call, std::string_view args) {
        const json::ObjectReader in(args);
        const std::string name = in.text("name");
        if (name.empty()) {
            throw daybook::PluginError(DAYBOOK_INVALID, "name is empty: give the name to greet");
        }
        json::ObjectWriter out;
        out.add("greeting", greeting_ + ", " + name);
        if (in.boolean("note")) {
            // A request: the host checks the call's leash, takes a checkpoint, writes, and answers
            // with a receipt.
            out.add_raw(
                "note",
                call.append("notes/" + call.day() + ".md", "- met " + name + "\n", "greeted"));
        }
        return out.str();
    }

  private:
    std::string greeting_;
};

constexpr auto kGreet = daybook::tool<&Greeter::greet>(
    "greet",
    "Greets somebody by name; with note=true leaves a line in today's notes.",
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{
        "name":{"type":"string","maxLength":100},"note":{"type":"boolean"}}})",
    {.writes = R"({"fixed":"notes/{day}.md","ops":["append"]})"});

}  // namespace

DAYBOOK_PLUGIN(
    "greeter",
    "0.1.0",
    daybook::wants("daybook.desk-files/1", "daybook.clock/1"),
    daybook::config_schema(
        R"({"type":"object","properties":{"greeting":{"type":"string"}},"additionalProperties":false})"),
    daybook::instance<Greeter>(),
    &kGreet)
