// Finding the manifest in the bytes of a shared library. The bytes are hostile: every offset and
// length is checked against the whole before use, and sums that could wrap are written as
// differences.
#include <cstring>
#include <elf.h>
#include <optional>

#include "host/format/manifest.hpp"

namespace daybook {
namespace {

// As in sdk/include/daybook/entry.h.
constexpr std::string_view kSection = ".note.daybook";
constexpr std::string_view kOwner("daybook\0", 8);
constexpr std::uint32_t kManifestType = 1;

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "the machine's ELF number is not known here"
#endif

/// A part of the bytes, or nothing when it does not lie inside.
std::optional<std::string_view> part(std::string_view bytes,
                                     std::uint64_t offset,
                                     std::uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return std::nullopt;
    }
    return bytes.substr(offset, size);
}

/// A header, copied out, since the bytes may be unaligned.
template <class Header>
std::optional<Header> header_at(std::string_view bytes, std::uint64_t offset) {
    const auto found = part(bytes, offset, sizeof(Header));
    if (!found) {
        return std::nullopt;
    }
    Header header = {};
    std::memcpy(&header, found->data(), sizeof header);
    return header;
}

/// The n-th entry of a table whose entries are at least as long as Header.
template <class Header>
std::optional<Header> entry_of(std::string_view bytes,
                               std::uint64_t table,
                               std::uint64_t entry_size,
                               std::uint64_t index) {
    // index and entry_size are 16 bits in an ELF header: the product cannot wrap.
    if (entry_size < sizeof(Header) || table > bytes.size()) {
        return std::nullopt;
    }
    return header_at<Header>(bytes, table + index * entry_size);
}

std::uint64_t padded(std::uint64_t size) {
    return (size + 3) / 4 * 4;
}

/// The manifest among the notes of one section or segment.
std::optional<std::string_view> text_in_notes(std::string_view notes) {
    while (true) {
        const auto header = header_at<Elf64_Nhdr>(notes, 0);
        if (!header) {
            return std::nullopt;
        }
        notes.remove_prefix(sizeof(Elf64_Nhdr));
        const auto owner = part(notes, 0, header->n_namesz);
        const auto text = part(notes, padded(header->n_namesz), header->n_descsz);
        if (!owner || !text) {
            return std::nullopt;
        }
        if (*owner == kOwner && header->n_type == kManifestType) {
            return text;
        }
        const std::uint64_t whole = padded(header->n_namesz) + padded(header->n_descsz);
        if (whole >= notes.size()) {
            return std::nullopt;
        }
        notes.remove_prefix(whole);
    }
}

std::optional<std::string_view> text_by_sections(std::string_view bytes, const Elf64_Ehdr& elf) {
    if (elf.e_shoff == 0) {
        return std::nullopt;
    }
    const auto names = entry_of<Elf64_Shdr>(bytes, elf.e_shoff, elf.e_shentsize, elf.e_shstrndx);
    const auto name_bytes = names ? part(bytes, names->sh_offset, names->sh_size) : std::nullopt;
    for (std::uint64_t i = 0; name_bytes && i < elf.e_shnum; ++i) {
        const auto section = entry_of<Elf64_Shdr>(bytes, elf.e_shoff, elf.e_shentsize, i);
        if (!section) {
            return std::nullopt;
        }
        const auto name = part(*name_bytes, section->sh_name, kSection.size() + 1);
        if (section->sh_type != SHT_NOTE || !name || name->substr(0, kSection.size()) != kSection ||
            name->back() != '\0') {
            continue;
        }
        const auto notes = part(bytes, section->sh_offset, section->sh_size);
        if (const auto text = notes ? text_in_notes(*notes) : std::nullopt) {
            return text;
        }
    }
    return std::nullopt;
}

/// For a library without section headers (sstrip): the loader's own table.
std::optional<std::string_view> text_by_segments(std::string_view bytes, const Elf64_Ehdr& elf) {
    for (std::uint64_t i = 0; i < elf.e_phnum; ++i) {
        const auto segment = entry_of<Elf64_Phdr>(bytes, elf.e_phoff, elf.e_phentsize, i);
        if (!segment) {
            return std::nullopt;
        }
        const auto notes = segment->p_type == PT_NOTE
                               ? part(bytes, segment->p_offset, segment->p_filesz)
                               : std::nullopt;
        if (const auto text = notes ? text_in_notes(*notes) : std::nullopt) {
            return text;
        }
    }
    return std::nullopt;
}

}  // namespace

Result<std::string> read_manifest_note(std::string_view elf_bytes) {
    if (!elf_bytes.starts_with(std::string_view(ELFMAG, SELFMAG))) {
        return Error(Errc::invalid,
                     "not an ELF file: wanted a shared library, built with daybook_add_plugin");
    }
    const auto elf = header_at<Elf64_Ehdr>(elf_bytes, 0);
    if (!elf) {
        return Error(Errc::invalid,
                     "the ELF file is cut short: " + std::to_string(elf_bytes.size()) +
                         " bytes are less than its header promises; copy it again, whole");
    }
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != ELFDATA2LSB ||
        elf->e_machine != kMachine) {
        return Error(Errc::unsupported,
                     "built for another architecture (ELF machine " +
                         std::to_string(elf->e_machine) + ", this is " + std::to_string(kMachine) +
                         "); use a build for this machine");
    }
    if (elf->e_type != ET_DYN) {
        return Error(Errc::invalid, "not a shared library");
    }
    auto text = text_by_sections(elf_bytes, *elf);
    if (!text) {
        text = text_by_segments(elf_bytes, *elf);
    }
    if (text) {
        return std::string(*text);
    }
    if (elf->e_phnum == 0 ||
        !entry_of<Elf64_Phdr>(elf_bytes, elf->e_phoff, elf->e_phentsize, elf->e_phnum - 1U)) {
        return Error(Errc::invalid,
                     "the ELF file is cut short: " + std::to_string(elf_bytes.size()) +
                         " bytes are less than its header promises; copy it again, whole");
    }
    return Error(Errc::not_found,
                 "not a daybook plugin: it has no manifest note; build it with daybook_add_plugin "
                 "and DAYBOOK_PLUGIN");
}

}  // namespace daybook
