// A plugin's manifest: what stands in the ELF note, read without running anything (docs/formats.md,
// "Manifest").
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

/// Operations on a desk's own file, a bit each.
enum FileOperation : unsigned { kAppend = 1, kReplace = 2, kEdit = 4 };

/// The manifest's line on what a tool writes.
struct WritesRule {
    std::string fixed;     ///< "notes/{day}.md", or "" when the path comes from an argument
    std::string argument;  ///< name of the argument that holds the path, or ""
    unsigned operations = kAppend;
};

struct ToolManifest {
    std::string name;
    std::string description;
    std::string input_schema;  ///< JSON text
    std::optional<WritesRule> writes;
    std::vector<std::string> groups;       ///< ids of the groups it uses
    std::chrono::milliseconds timeout{0};  ///< 0 = the host's default
    bool idempotent = false;
};

struct SkillManifest {
    std::string name;
    std::string description;
    std::string instructions;
};

struct Manifest {
    std::string name;
    std::string version;
    std::uint32_t abi_major = 0;
    std::uint32_t abi_minor = 0;
    std::uint32_t min_host_minor = 0;
    std::string profile = "pure";
    std::vector<std::string> wants;  ///< ids of groups
    std::vector<std::string> calls;  ///< tools of other plugins that it may call
    bool maintains = false;          ///< offers the call maintain
    bool tells_health = false;       ///< offers the call health
    std::vector<ToolManifest> tools;
    std::vector<std::string> models;
    std::vector<SkillManifest> skills;
    std::string config_schema;  ///< JSON text or ""
    Json json;                  ///< the whole, as read

    /// Errors: invalid (which member, what was expected), unsupported (a later manifest number).
    static Result<Manifest> parse(std::string_view text);
};

/// Finds the manifest's text in the bytes of an ELF file (64-bit little-endian, this machine's
/// architecture). Bounds-checked: any bytes are safe. Errors: invalid (not an ELF file, truncated,
/// not a shared library), unsupported (other architecture), not_found (no note: "not a daybook
/// plugin").
Result<std::string> read_manifest_note(std::string_view elf_bytes);

}  // namespace daybook
