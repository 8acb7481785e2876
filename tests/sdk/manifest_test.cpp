// The manifest in the file: readable without running anything, as the host reads it, also after
// strip.
#include "host/format/manifest.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;  // NOLINT(google-build-using-namespace)

namespace {

std::string contents_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

std::filesystem::path fixture(const std::string& name) {
    return std::filesystem::path(DAYBOOK_FIXTURES) / (name + ".so");
}

Manifest manifest_of(const std::filesystem::path& file) {
    auto note = read_manifest_note(contents_of(file));
    REQUIRE(note);
    INFO(*note);
    auto manifest = Manifest::parse(*note);
    REQUIRE(manifest);
    return *manifest;
}

}  // namespace

TEST_CASE("the C++ layer writes what the descriptors say", "[sdk]") {
    const Manifest manifest = manifest_of(fixture("writer"));
    CHECK(manifest.name == "writer");
    CHECK(manifest.version == "1.0.0");
    CHECK(manifest.abi_major == 1);
    CHECK(manifest.abi_minor == 0);
    CHECK(manifest.profile == "pure");
    CHECK(manifest.wants == std::vector<std::string>{"daybook.desk-files/1", "daybook.clock/1"});
    REQUIRE(manifest.tools.size() == 4);
    const ToolManifest& write = manifest.tools[0];
    CHECK(write.name == "write_any");
    REQUIRE(write.writes.has_value());
    CHECK(write.writes->argument == "path");
    CHECK(write.writes->operations == (kAppend | kReplace | kEdit));
    CHECK(write.groups == std::vector<std::string>{"daybook.desk-files/1"});
    CHECK_FALSE(manifest.tools[1].writes.has_value());
}

TEST_CASE("flags, time-outs, models and configuration are in the manifest", "[sdk]") {
    const Manifest echo = manifest_of(fixture("echo"));
    CHECK(echo.tools.at(0).idempotent);
    CHECK_FALSE(echo.tools.at(1).idempotent);
    CHECK(echo.tools.at(2).timeout == std::chrono::milliseconds(10000));
    const Manifest teller = manifest_of(fixture("teller"));
    CHECK(teller.models == std::vector<std::string>{"teller"});
    CHECK(teller.config_schema.find("window") != std::string::npos);
    CHECK(manifest_of(fixture("future_minor")).min_host_minor == 9);
}

TEST_CASE("a plugin in plain C carries its manifest", "[sdk]") {
    const Manifest manifest = manifest_of(fixture("plain_c"));
    CHECK(manifest.name == "plain_c");
    REQUIRE(manifest.tools.size() == 1);
    CHECK(manifest.tools[0].name == "c_echo");
}

TEST_CASE("the manifest survives strip", "[sdk]") {
    const test::TempFolder folder;
    for (const char* name : {"writer", "plain_c"}) {
        const auto stripped = folder / (std::string(name) + ".so");
        const std::string command = std::string(DAYBOOK_STRIP) + " -s -o " + stripped.string() +
                                    " " + fixture(name).string();
        REQUIRE(std::system(command.c_str()) ==
                0);  // NOLINT(cert-env33-c): fixed words and our own paths
        CHECK(std::filesystem::file_size(stripped) < std::filesystem::file_size(fixture(name)));
        CHECK(manifest_of(stripped).name == name);
    }
}

TEST_CASE("a library without a manifest is no plugin", "[sdk]") {
    const auto note = read_manifest_note(contents_of(fixture("no_note")));
    REQUIRE_FALSE(note);
    CHECK(note.error().code() == Errc::not_found);
}
