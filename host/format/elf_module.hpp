// What a shared library says of itself to the loader, read from its bytes without running anything:
// what it exports, what it needs, and whether all of it is there. The bytes are hostile: every
// offset is checked before use. Thread: [any].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

namespace daybook {

struct ElfExport {
    std::string name;
    bool is_function = false;
    bool is_unique =
        false;  ///< STB_GNU_UNIQUE: one for the whole process, whatever the loader says
};

struct ElfModule {
    std::vector<ElfExport> exports;   ///< defined and visible dynamic symbols
    std::vector<std::string> needed;  ///< libraries that it is linked with
    bool has_text_relocations = false;
};

/// The bytes passed read_manifest_note(), which looks at the header. Errors: invalid (cut off: what
/// the header promises and what the file holds; no dynamic part).
Result<ElfModule> read_elf_module(std::string_view bytes);

/// Whether the plugin's entry of this ABI major is there and is code: "" or what was wanted, what
/// was found and what to do.
[[nodiscard]] std::string entry_problem(const ElfModule& module, unsigned abi_major);

}  // namespace daybook
