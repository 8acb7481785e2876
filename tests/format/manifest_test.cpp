#include "host/format/manifest.hpp"

#include <cstring>
#include <elf.h>

#include "tests/catch.hpp"
#include "tests/format/elf_builder.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

constexpr std::string_view kManifest =
    R"({"manifest":1,"name":"memory","version":"1.0.0","abi":[1,0],"min_host_minor":0,"profile":"pure",
"wants":["daybook.desk-files/1","daybook.clock/1"],
"tools":[
 {"name":"add_note","description":"Adds a note.","input_schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},
  "writes":{"fixed":"notes/{day}.md","ops":["append"]},"groups":["daybook.desk-files/1"],"timeout_ms":5000,"flags":["idempotent"]},
 {"name":"edit_file","description":"Edits.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}},
  "writes":{"arg":"path","ops":["replace","edit"]},"timeout_ms":0,"flags":[]}],
"models":[{"name":"clerk"}],
"skills":[{"name":"pivot","description":"Pivots.","instructions":"Use them."}],
"config_schema":{"type":"object"}})";

std::string with(std::string_view from, std::string_view to) {
    std::string text(kManifest);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return text;
}

std::string problem(std::string_view from, std::string_view to) {
    const auto manifest = Manifest::parse(with(from, to));
    return manifest
               ? ""
               : std::string(name_of(manifest.error().code())) + ": " + manifest.error().message();
}

}  // namespace

TEST_CASE("a manifest is read with its tools, models and skills", "[format]") {
    const Manifest manifest = must(Manifest::parse(kManifest));
    CHECK(manifest.name == "memory");
    CHECK(manifest.version == "1.0.0");
    CHECK(manifest.abi_major == 1);
    CHECK(manifest.profile == "pure");
    CHECK(manifest.wants.size() == 2);
    REQUIRE(manifest.tools.size() == 2);
    const ToolManifest& add_note = manifest.tools[0];
    CHECK(add_note.writes->fixed == "notes/{day}.md");
    CHECK(add_note.writes->operations == kAppend);
    CHECK(add_note.timeout == std::chrono::seconds(5));
    CHECK(add_note.idempotent);
    CHECK(add_note.groups == std::vector<std::string>{"daybook.desk-files/1"});
    const ToolManifest& edit = manifest.tools[1];
    CHECK(edit.writes->argument == "path");
    CHECK(edit.writes->operations == (kReplace | kEdit));
    CHECK(edit.groups == manifest.wants);
    CHECK(!edit.idempotent);
    CHECK(manifest.models == std::vector<std::string>{"clerk"});
    CHECK(manifest.skills[0].instructions == "Use them.");
    CHECK(manifest.config_schema == R"({"type":"object"})");
    CHECK(must(Manifest::parse(R"({"manifest":1,"name":"a","version":"0","abi":[1,3]})"))
              .tools.empty());
}

TEST_CASE("a manifest that is wrong is refused with the member", "[format]") {
    CHECK(problem("\"manifest\":1", "\"manifest\":2").starts_with("unsupported: "));
    const std::vector<std::tuple<const char*, const char*, const char*>> rows = {
        {"\"manifest\":1,", "", "\"manifest\""},
        {"\"name\":\"memory\"", "\"name\":\"Memory\"", "\"name\""},
        {"\"name\":\"memory\"", "\"name\":\"../x\"", "\"name\""},
        {"\"version\":\"1.0.0\"", "\"version\":1", "\"version\""},
        {"[1,0]", "[1]", "\"abi\""},
        {"[1,0]", "[1,-1]", "\"abi\""},
        {"[1,0]", "[99999999999,0]", "\"abi\""},
        {"\"pure\"", "\"root\"", "\"profile\""},
        {"daybook.clock/1", "daybook.clock", "group id"},
        {"\"wants\":[", "\"wants\":5,\"x\":[", "\"wants\""},
        {"\"add_note\"", "\"add note\"", "\"name\""},
        {"\"edit_file\"", "\"add_note\"", "stands twice"},
        {"\"input_schema\":{", "\"input_schema\":5,\"x\":{", "input_schema"},
        {"\"type\":\"string\"}},\"required\"", "\"type\":\"text\"}},\"required\"", "\"type\""},
        {"\"groups\":[\"daybook.desk-files/1\"]",
         "\"groups\":[\"daybook.http/1\"]",
         "daybook.http/1"},
        {"notes/{day}.md", "../{day}.md", "desk's own files"},
        {"notes/{day}.md", "prices/{day}.md", "desk's own files"},
        {"notes/{day}.md", "notes/{desk}.md", "desk's own files"},
        {"\"fixed\":\"notes/{day}.md\"", "\"fixed\":\"notes/x\",\"arg\":\"text\"", "\"fixed\""},
        {"[\"append\"]", "[\"delete\"]", "\"delete\""},
        {"[\"append\"]", "[]", "\"ops\""},
        {"\"arg\":\"path\"", "\"arg\":\"file\"", "\"file\""},
        {"[\"idempotent\"]", "[\"teleport\"]", "teleport"},
        {"\"timeout_ms\":5000", "\"timeout_ms\":-1", "timeout_ms"},
        {"[{\"name\":\"clerk\"}]", "[\"clerk\"]", "models"},
        {"\"name\":\"pivot\"", "\"name\":5", "\"name\""},
        {"\"config_schema\":{\"type\":\"object\"}",
         "\"config_schema\":{\"type\":5}",
         "config_schema"},
        {"\"name\":\"memory\",", "\"name\":\"memory\",\"name\":\"other\",", "stands twice"},
    };
    for (const auto& [from, to, expected] : rows) {
        INFO(to);
        const std::string told = problem(from, to);
        INFO(told);
        CHECK(told.find(expected) != std::string::npos);
    }
    CHECK(Manifest::parse("").error().code() == Errc::invalid);
    CHECK(Manifest::parse("[]").error().code() == Errc::invalid);
}

TEST_CASE("the note is found by its section, and without sections by its segment", "[format]") {
    ElfBuilder elf;
    elf.add_note("GNU", 3, "build-id");
    elf.add_note("daybook", 1, kManifest);
    CHECK(must(read_manifest_note(elf.build())) == kManifest);
    elf.sections = false;
    CHECK(must(read_manifest_note(elf.build())) == kManifest);
}

TEST_CASE("a file that is no plugin is told apart from a damaged one", "[format]") {
    const auto code = [](const std::string& bytes) {
        const auto note = read_manifest_note(bytes);
        return note ? Errc::ok : note.error().code();
    };
    CHECK(code("") == Errc::invalid);
    CHECK(code("#!/bin/sh\n") == Errc::invalid);
    ElfBuilder elf;
    elf.add_note("GNU", 3, "build-id");
    CHECK(code(elf.build()) == Errc::not_found);
    CHECK(read_manifest_note(elf.build()).error().message() ==
          "not a daybook plugin: it has no manifest note; build it with daybook_add_plugin and "
          "DAYBOOK_PLUGIN");
    elf.add_note("daybook", 1, kManifest);
    CHECK(code(elf.build()) == Errc::ok);
    CHECK(code(elf.build().substr(0, 40)) == Errc::invalid);
    CHECK(code(elf.build().substr(0, 70)) == Errc::invalid);
    elf.header.e_machine = EM_RISCV;
    CHECK(code(elf.build()) == Errc::unsupported);
    elf = ElfBuilder();
    elf.header.e_type = ET_EXEC;
    elf.add_note("daybook", 1, kManifest);
    CHECK(code(elf.build()) == Errc::invalid);
    elf = ElfBuilder();
    elf.add_note("daybook", 2, kManifest);
    elf.add_note("daybooks", 1, kManifest);
    CHECK(code(elf.build()) == Errc::not_found);
}

TEST_CASE("offsets and lengths that point outside are never followed", "[format]") {
    ElfBuilder good;
    good.add_note("daybook", 1, kManifest);
    const std::string bytes = good.build();
    // Every 8-byte field of the headers, at values where a sum would wrap or leave the file.
    for (std::size_t at = 16; at + 8 <= 64; at += 2) {
        for (const std::uint64_t value : {0ULL,
                                          1ULL,
                                          0x7fffffffffffffffULL,
                                          0xffffffffffffffffULL,
                                          0xfffffffffffffff8ULL,
                                          1ULL << 32U}) {
            std::string damaged = bytes;
            std::memcpy(damaged.data() + at, &value, 8);
            const auto note = read_manifest_note(damaged);
            CHECK((!note || note->size() <= bytes.size()));
        }
    }
    for (std::size_t length = 0; length < bytes.size(); length += 7) {
        CHECK((!read_manifest_note(bytes.substr(0, length)) || length > kManifest.size()));
    }
}
