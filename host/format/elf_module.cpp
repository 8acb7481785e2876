#include "host/format/elf_module.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>

namespace daybook {
namespace {

constexpr std::string_view kEntry = "daybook_plugin_v";
// Bounds what a hostile file can cost: so many names of so many bytes.
constexpr std::uint64_t kMaxSymbols = 1UL << 16;
constexpr std::size_t kMaxName = 1024;
constexpr std::uint64_t kMaxDynamic = 4096;

std::optional<std::string_view> part(std::string_view bytes,
                                     std::uint64_t offset,
                                     std::uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return std::nullopt;
    }
    return bytes.substr(offset, size);
}

template <class Record>
std::optional<Record> record_at(std::string_view bytes, std::uint64_t offset) {
    const auto found = part(bytes, offset, sizeof(Record));
    if (!found) {
        return std::nullopt;
    }
    Record record = {};
    std::memcpy(&record, found->data(), sizeof record);
    return record;
}

/// Text up to its NUL; "" when it does not end inside, or is longer than a name may be.
std::string text_at(std::string_view table, std::uint64_t offset) {
    if (offset >= table.size()) {
        return {};
    }
    const std::string_view rest = table.substr(offset, kMaxName);
    const auto end = rest.find('\0');
    return end == std::string_view::npos ? std::string() : std::string(rest.substr(0, end));
}

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    Result<ElfModule> read() {
        const auto header = record_at<Elf64_Ehdr>(bytes_, 0);
        if (!header || header->e_phentsize < sizeof(Elf64_Phdr)) {
            return cut("its header", sizeof(Elf64_Ehdr));
        }
        for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
            const std::uint64_t at = header->e_phoff + i * header->e_phentsize;
            const auto segment = record_at<Elf64_Phdr>(bytes_, at);
            if (!segment || header->e_phoff > bytes_.size()) {
                return cut("the table of its segments", at + sizeof(Elf64_Phdr));
            }
            segments_.push_back(*segment);
            const bool inside = part(bytes_, segment->p_offset, segment->p_filesz).has_value();
            if (segment->p_type == PT_LOAD && !inside) {
                return cut("a segment", segment->p_offset + segment->p_filesz);
            }
        }
        // The loader does without them; where they are promised and absent, a copy stopped half
        // way.
        const std::uint64_t sections = std::uint64_t{header->e_shnum} * header->e_shentsize;
        if (header->e_shoff != 0 && !part(bytes_, header->e_shoff, sections)) {
            return cut("the table of its sections", header->e_shoff + sections);
        }
        if (auto dynamic = read_dynamic(); !dynamic) {
            return dynamic.error();
        }
        read_symbols();
        return std::move(module_);
    }

  private:
    [[nodiscard]] Error cut(const std::string& what, std::uint64_t promised) const {
        return Error(Errc::invalid,
                     "the file is cut off: " + what + " wants " + std::to_string(promised) +
                         " bytes, the file has " + std::to_string(bytes_.size()) +
                         "; copy it again, whole");
    }

    /// Where the loader would put the address, in the file.
    [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                address - segment.p_vaddr < segment.p_filesz) {
                return segment.p_offset + (address - segment.p_vaddr);
            }
        }
        return std::nullopt;
    }

    Result<> read_dynamic() {
        const auto dynamic =
            std::find_if(segments_.begin(), segments_.end(), [](const Elf64_Phdr& each) {
                return each.p_type == PT_DYNAMIC;
            });
        if (dynamic == segments_.end()) {
            return Error(Errc::invalid,
                         "it has no dynamic part: wanted a shared library; link it with -shared");
        }
        std::vector<std::uint64_t> needed;
        for (std::uint64_t i = 0; i < kMaxDynamic; ++i) {
            const auto entry =
                record_at<Elf64_Dyn>(bytes_, dynamic->p_offset + i * sizeof(Elf64_Dyn));
            if (!entry || entry->d_tag == DT_NULL) {
                break;
            }
            switch (entry->d_tag) {
                case DT_NEEDED:
                    needed.push_back(entry->d_un.d_val);
                    break;
                case DT_STRTAB:
                    strings_at_ = offset_of(entry->d_un.d_ptr);
                    break;
                case DT_STRSZ:
                    strings_size_ = entry->d_un.d_val;
                    break;
                case DT_SYMTAB:
                    symbols_at_ = offset_of(entry->d_un.d_ptr);
                    break;
                case DT_TEXTREL:
                    module_.has_text_relocations = true;
                    break;
                case DT_FLAGS:
                    module_.has_text_relocations |= (entry->d_un.d_val & DF_TEXTREL) != 0;
                    break;
                default:
                    break;
            }
        }
        if (strings_at_) {
            strings_ = part(bytes_, *strings_at_, strings_size_).value_or(std::string_view());
        }
        for (const std::uint64_t name : needed) {
            module_.needed.push_back(text_at(strings_, name));
        }
        return {};
    }

    /// The loader's table of symbols has no length of its own: the section's, or, without sections,
    /// up to its strings, which GNU ld puts behind it.
    [[nodiscard]] std::uint64_t count_symbols() const {
        const auto header = record_at<Elf64_Ehdr>(bytes_, 0);
        for (std::uint64_t i = 0; header && header->e_shoff != 0 && i < header->e_shnum; ++i) {
            const std::uint64_t at = i * header->e_shentsize;
            const auto section = header->e_shoff > bytes_.size()
                                     ? std::nullopt
                                     : record_at<Elf64_Shdr>(bytes_, header->e_shoff + at);
            if (section && section->sh_type == SHT_DYNSYM && section->sh_offset == *symbols_at_) {
                return std::min(section->sh_size / sizeof(Elf64_Sym), kMaxSymbols);
            }
        }
        return *strings_at_ > *symbols_at_
                   ? std::min((*strings_at_ - *symbols_at_) / sizeof(Elf64_Sym), kMaxSymbols)
                   : 0;
    }

    void read_symbols() {
        if (!symbols_at_ || !strings_at_) {
            return;
        }
        const std::uint64_t count = count_symbols();
        for (std::uint64_t i = 1; i < count; ++i) {
            const auto symbol = record_at<Elf64_Sym>(bytes_, *symbols_at_ + i * sizeof(Elf64_Sym));
            if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
                ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
                ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN) {
                continue;
            }
            module_.exports.push_back({text_at(strings_, symbol->st_name),
                                       ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ||
                                           ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
                                       ELF64_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE});
        }
    }

    std::string_view bytes_;
    std::vector<Elf64_Phdr> segments_;
    std::optional<std::uint64_t> strings_at_, symbols_at_;
    std::uint64_t strings_size_ = 0;
    std::string_view strings_;
    ElfModule module_;
};

}  // namespace

Result<ElfModule> read_elf_module(std::string_view bytes) {
    return Reader(bytes).read();
}

std::string entry_problem(const ElfModule& module, unsigned abi_major) {
    const std::string wanted = std::string(kEntry) + std::to_string(abi_major);
    std::string other;
    for (const ElfExport& symbol : module.exports) {
        if (symbol.name == wanted) {
            return symbol.is_function
                       ? std::string()
                       : wanted +
                             " is data, wanted a function: write it with DAYBOOK_PLUGIN, or "
                             "as the headers declare it";
        }
        if (symbol.name.starts_with(kEntry)) {
            other = symbol.name;
        }
    }
    if (other.empty()) {
        return "it exports no " + wanted +
               ", which every daybook plugin does: build it with daybook_add_plugin";
    }
    return "made for daybook plugin ABI " + other.substr(kEntry.size()) +
           "; this host serves ABI " + std::to_string(abi_major) +
           ". Rebuild it with this host's SDK, or use a daybook that serves ABI " +
           other.substr(kEntry.size());
}

}  // namespace daybook
