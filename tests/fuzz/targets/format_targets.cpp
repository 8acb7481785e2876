#include <cstdlib>
#include <stdexcept>
#include <string>

#include <daybook/json.hpp>

#include "host/format/elf_module.hpp"
#include "host/format/json.hpp"
#include "host/format/manifest.hpp"
#include "tests/fuzz/targets/targets.hpp"

namespace daybook::fuzz {
namespace {

void must(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// Every keyword that a tool's schema may use.
constexpr const char* kSchema =
    R"({"type":"object","required":["a"],"properties":{"a":{"type":["string","null"],)"
    R"("minLength":1,"pattern":"^[a-z]{1,3}$"},"b":{"$ref":"#"},"c":{"type":"array","items":)"
    R"({"type":"integer","minimum":1},"uniqueItems":true},"d":{"enum":[1,"x",null]}},)"
    R"("additionalProperties":false})";

void read_elf_module_of(std::string_view bytes) {
    if (const auto module = read_elf_module(bytes)) {
        for (const ElfExport& symbol : module->exports) {
            must(symbol.name.empty() || bytes.find(symbol.name) != std::string_view::npos);
        }
        static_cast<void>(entry_problem(*module, 1));
    }
}

}  // namespace

void read_elf_note(std::string_view bytes) {
    read_elf_module_of(bytes);
    if (const auto text = read_manifest_note(bytes)) {
        must(text->empty() || bytes.find(*text) != std::string_view::npos);
        static_cast<void>(Manifest::parse(*text).has_value());
    }
}

void read_manifest(std::string_view bytes) {
    const auto manifest = Manifest::parse(bytes);
    must(manifest || !manifest.error().message().empty());
}

void read_tool_arguments(std::string_view bytes) {
    const auto schema = JsonSchema::compile(kSchema);
    must(schema.has_value());
    if (const auto arguments = Json::parse(bytes)) {
        const auto checked = schema->check(*arguments);
        must(checked || checked.error().code() == Errc::invalid);
        const auto again = Json::parse(arguments->dump());
        must(again && *again == *arguments);
    }
    try {
        const json::ObjectReader reader(bytes);
        for (const auto& [name, value] : reader.members()) {
            must(value.empty() || bytes.find(value) != std::string_view::npos);
            static_cast<void>(reader.text(name));
            static_cast<void>(reader.integer(name));
        }
    } catch (const std::invalid_argument&) {
        return;  // what the SDK says it throws for malformed text
    }
}

}  // namespace daybook::fuzz
