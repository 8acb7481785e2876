// The smallest shared library that has notes: enough for a reader, nothing to run.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <string_view>

namespace daybook::test {

class ElfBuilder {
  public:
    ElfBuilder() {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = ET_DYN;
#if defined(__aarch64__)
        header.e_machine = EM_AARCH64;
#else
        header.e_machine = EM_X86_64;
#endif
    }

    void add_note(std::string_view owner, std::uint32_t type, std::string_view text) {
        const Elf64_Nhdr note = {
            static_cast<Elf64_Word>(owner.size() + 1), static_cast<Elf64_Word>(text.size()), type};
        append(notes_, &note, sizeof note);
        notes_.append(owner).append(1, '\0');
        pad(notes_);
        notes_ += text;
        pad(notes_);
    }

    [[nodiscard]] std::string build() const {
        Elf64_Ehdr elf = header;
        Elf64_Phdr segment = {};
        segment.p_type = PT_NOTE;
        segment.p_offset = sizeof elf + sizeof segment;
        segment.p_filesz = notes_.size();
        elf.e_phoff = sizeof elf;
        elf.e_phentsize = sizeof segment;
        elf.e_phnum = 1;
        const std::string names("\0.note.daybook\0.shstrtab\0", 25);
        Elf64_Shdr table[3] = {};
        table[1].sh_name = 1;
        table[1].sh_type = SHT_NOTE;
        table[1].sh_offset = segment.p_offset;
        table[1].sh_size = notes_.size();
        table[2].sh_name = 15;
        table[2].sh_type = SHT_STRTAB;
        table[2].sh_offset = segment.p_offset + notes_.size();
        table[2].sh_size = names.size();
        if (sections) {
            elf.e_shoff = table[2].sh_offset + names.size();
            elf.e_shentsize = sizeof table[0];
            elf.e_shnum = 3;
            elf.e_shstrndx = 2;
        }
        std::string bytes;
        append(bytes, &elf, sizeof elf);
        append(bytes, &segment, sizeof segment);
        bytes += notes_;
        if (sections) {
            bytes += names;
            append(bytes, table, sizeof table);
        }
        return bytes;
    }

    Elf64_Ehdr header = {};
    bool sections = true;

  private:
    static void append(std::string& out, const void* from, std::size_t bytes) {
        out.append(static_cast<const char*>(from), bytes);
    }
    static void pad(std::string& out) {
        out.resize((out.size() + 3) / 4 * 4, '\0');
    }

    std::string notes_;
};

}  // namespace daybook::test
