// What a plugin's bytes and its start tell.
#include <algorithm>
#include <array>
#include <chrono>

#include <daybook/version.h>

#include "host/check/checks.hpp"
#include "host/format/elf_module.hpp"

namespace daybook::check {
namespace {

constexpr std::string_view kEntry = "daybook_plugin_v";
constexpr std::chrono::milliseconds kScanTime{100};

/// The refusal's first word: the step of the runner's start.
std::string step_of(const Error& error) {
    return error.message().substr(0, error.message().find(':'));
}

Verdict loads(const Subject& subject) {
    const auto module = read_elf_module(subject.bytes);
    if (!module) {
        return fail(module.error().message());
    }
    if (const std::string problem = entry_problem(*module, DAYBOOK_ABI_MAJOR); !problem.empty()) {
        return fail(problem);
    }
    const auto host = CheckHost::start(subject);
    const bool other =
        !host && (step_of(host.error()) == "descriptor" || step_of(host.error()) == "open");
    return host || other ? pass() : fail(host.error().message());
}

Verdict note_matches(const Subject& subject) {
    const auto host = CheckHost::start(subject);
    if (host || step_of(host.error()) == "open") {
        return pass();
    }
    return step_of(host.error()) == "descriptor"
               ? fail(host.error().message())
               : skip("it does not load: " + host.error().message());
}

Verdict opens(const Subject& subject) {
    const auto host = CheckHost::start(subject);
    if (host) {
        return pass();
    }
    if (step_of(host.error()) == "open" || step_of(host.error()) == "start") {
        return fail("with the configuration " + subject.config + ": " + host.error().message() +
                    "; give another with --config");
    }
    return skip("it does not load: " + host.error().message());
}

Verdict exports_only_entry(const Subject& subject) {
    const auto module = read_elf_module(subject.bytes);
    if (!module) {
        return fail(module.error().message());
    }
    std::string others;
    for (const ElfExport& symbol : module->exports) {
        if (!symbol.name.starts_with(kEntry) && others.size() < 400) {
            others += (others.empty() ? "" : ", ") + symbol.name;
        }
    }
    return others.empty() ? pass()
                          : fail("exports more than its entry: " + others +
                                 "; build it with daybook_add_plugin, which has a version script");
}

Verdict no_gnu_unique(const Subject& subject) {
    const auto module = read_elf_module(subject.bytes);
    if (!module) {
        return fail(module.error().message());
    }
    const auto found = std::find_if(module->exports.begin(),
                                    module->exports.end(),
                                    [](const ElfExport& symbol) { return symbol.is_unique; });
    return found == module->exports.end()
               ? pass()
               : fail(found->name + " is one for the whole process; compile with -fno-gnu-unique");
}

Verdict no_text_relocations(const Subject& subject) {
    const auto module = read_elf_module(subject.bytes);
    if (!module) {
        return fail(module.error().message());
    }
    return module->has_text_relocations
               ? fail("its code is changed while it is loaded; compile with -fPIC")
               : pass();
}

Verdict scan_time(const Subject& subject) {
    const auto began = std::chrono::steady_clock::now();
    const auto note = read_manifest_note(subject.bytes);
    const bool parsed = note && Manifest::parse(*note);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    if (!parsed) {
        return fail("its manifest cannot be read");
    }
    return took < kScanTime ? pass()
                            : fail("reading its manifest took " + std::to_string(took.count()) +
                                   " ms, wanted under 100");
}

Verdict schemas_are_valid(const Subject& subject) {
    for (const ToolManifest& tool : subject.manifest.tools) {
        const auto json = Json::parse(tool.input_schema);
        if (!json || (*json)["type"].as_string() != "object") {
            return fail("tool " + tool.name + ": input_schema wants \"type\":\"object\", got " +
                        tool.input_schema.substr(0, 80));
        }
        if (tool.description.empty()) {
            return fail("tool " + tool.name + ": a model sees its description, and it is empty");
        }
        const auto& properties = (*json)["properties"];
        for (const Json& required : (*json)["required"].items()) {
            if (!properties.has(required.as_string())) {
                return fail("tool " + tool.name + ": requires \"" + required.as_string() +
                            "\", which its properties lack");
            }
        }
    }
    return pass();
}

Verdict config_schema(const Subject& subject) {
    if (subject.manifest.config_schema.empty()) {
        return skip("it has no configuration");
    }
    const auto schema = JsonSchema::compile(subject.manifest.config_schema);
    const auto config = Json::parse(subject.config);
    if (!schema || !config) {
        return fail("config_schema: " +
                    (schema ? "the configuration given is no JSON" : schema.error().message()));
    }
    if (auto fits = schema->check(*config); !fits) {
        return skip("the configuration " + subject.config +
                    " does not fit: " + fits.error().message() + "; give one with --config");
    }
    const auto json = Json::parse(subject.manifest.config_schema);
    return json && (*json)["additionalProperties"] == Json(false)
               ? pass()
               : fail(
                     "config_schema takes members that it does not know: wanted "
                     "\"additionalProperties\":false, so that a misspelt one is told");
}

constexpr std::array<Check, 9> kChecks{
    {{"scan-time", 1, "the manifest is read in under 100 ms", scan_time},
     {"loads-rtld-now", 1, "every symbol is found when it is loaded, behind the walls", loads},
     {"abi-note-matches-descriptor", 1, "the note says what the descriptor says", note_matches},
     {"opens", 1, "it opens with its configuration", opens},
     {"schemas-are-valid",
      1,
      "each tool has a schema of an object and a description",
      schemas_are_valid},
     {"config-schema",
      2,
      "its configuration has a schema that refuses what it does not know",
      config_schema},
     {"exports-only-entry", 2, "it exports its entry and nothing else", exports_only_entry},
     {"no-gnu-unique", 2, "no symbol is one for the whole process", no_gnu_unique},
     {"no-text-relocations", 2, "its code is not changed by the loader", no_text_relocations}}};

}  // namespace

std::span<const Check> file_checks() {
    return kChecks;
}

}  // namespace daybook::check
