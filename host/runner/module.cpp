#include "host/runner/module.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <memory>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>

#include <boost/dll/shared_library.hpp>

#include "host/os/unique_fd.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr int kOtherMajors =
    9;  // entry points of other ABI majors that are looked for, to say what a file is

std::string host_abi() {
    return std::to_string(DAYBOOK_ABI_MAJOR) + "." + std::to_string(DAYBOOK_ABI_MINOR);
}

/// `plugin "clerk" 1.2.0 (/path/clerk.so)`
std::string who(const Manifest& manifest, const std::string& path) {
    return "plugin \"" + manifest.name + "\" " + manifest.version + " (" + path + ")";
}

std::string other_major(const Manifest& manifest, const std::string& path, std::uint32_t major) {
    return who(manifest, path) + ": made for daybook plugin ABI " + std::to_string(major) +
           "; this host serves ABI " + host_abi() +
           ". Rebuild it with this host's SDK, or use a daybook that serves ABI " +
           std::to_string(major);
}

/// Whether every loadable part lies inside the file: the loader maps them without looking, and
/// touching a page beyond the end kills the process. The note's reader has checked the header
/// before.
bool is_whole(std::string_view file) {
    Elf64_Ehdr header{};
    std::memcpy(&header, file.data(), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        if (at + sizeof(Elf64_Phdr) > file.size()) {
            return false;
        }
        Elf64_Phdr part{};
        std::memcpy(&part, file.data() + at, sizeof part);
        const bool outside =
            part.p_offset > file.size() || part.p_filesz > file.size() - part.p_offset;
        if (part.p_type == PT_LOAD && outside) {
            return false;
        }
    }
    return true;
}

Result<std::string> note_of_file(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        return system_error("read " + path, errno);
    }
    if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
        return Error(Errc::invalid, path + ": not a plugin: no regular file, or empty");
    }
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const start = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (start == MAP_FAILED) {
        return system_error("read " + path, errno);
    }
    const std::string_view file(static_cast<const char*>(start), bytes);
    auto note = read_manifest_note(file);
    const bool whole = note && is_whole(file);
    ::munmap(start, bytes);
    if (!note) {
        return note.error().during(path);
    }
    if (!whole) {
        return Error(Errc::invalid,
                     path + ": the file is cut off: its contents are shorter than its header says");
    }
    return note;
}

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name ? name.get() : symbol;
}

/// The loader's own words: Boost.DLL puts them in parentheses and adds an errno that has nothing to
/// do with them.
std::string loader_text(std::string_view text) {
    constexpr std::string_view kBefore = "dlerror system message: ";
    if (const auto at = text.find(kBefore); at != std::string_view::npos) {
        text.remove_prefix(at + kBefore.size());
    }
    if (const auto end = text.rfind("): "); end != std::string_view::npos) {
        text = text.substr(0, end);
    }
    return std::string(text);
}

Error classified(const std::string& reason, const Manifest& manifest, const std::string& path) {
    constexpr std::string_view kUndefined = "undefined symbol: ";
    constexpr std::string_view kMissing = ": cannot open shared object file";
    if (const auto at = reason.find(kUndefined); at != std::string::npos) {
        std::string symbol = reason.substr(at + kUndefined.size());
        symbol = symbol.substr(0, symbol.find_first_of(", )"));
        return Error(Errc::not_found,
                     who(manifest, path) + ": no library it is linked with offers " +
                         demangled(symbol) +
                         ". Link what it uses (-Wl,-z,defs finds this when building)");
    }
    if (const auto at = reason.find(kMissing); at != std::string::npos) {
        const std::string library = reason.substr(0, at);
        if (library != path) {
            return Error(
                Errc::not_found,
                who(manifest, path) + ": needs the library " + library +
                    ", which is not installed in a folder that plugins may read; install it there, "
                    "or link it statically");
        }
    }
    return Error(Errc::invalid, who(manifest, path) + ": cannot be loaded: " + reason);
}

/// Loads and leaves loaded: unloading code whose threads, thread-local destructors or exceptions
/// are alive crashes, and the process's end unloads it anyway.
Result<void*> open_library(const std::string& path, const Manifest& manifest) {
    try {
        auto library = std::make_unique<boost::dll::shared_library>(
            boost::dll::fs::path(path), boost::dll::load_mode::rtld_now);
        return library.release()->native();
    } catch (const std::exception& error) {
        return classified(loader_text(error.what()), manifest, path);
    }
}

/// Whether the symbol is code: calling a data object by the entry's name would crash.
bool is_function(void* symbol) {
    Dl_info info{};
    const ElfW(Sym)* entry = nullptr;
    void* extra = nullptr;
    if (::dladdr1(symbol, &info, &extra, RTLD_DL_SYMENT) == 0 || extra == nullptr) {
        return false;
    }
    entry = static_cast<const ElfW(Sym)*>(extra);
    return ELF64_ST_TYPE(entry->st_info) == STT_FUNC;
}

Error no_entry(void* library, const Manifest& manifest, const std::string& path) {
    for (int major = 1; major <= kOtherMajors; ++major) {
        const std::string name = "daybook_plugin_v" + std::to_string(major);
        if (::dlsym(library, name.c_str()) != nullptr) {
            return Error(Errc::unsupported,
                         other_major(manifest, path, static_cast<std::uint32_t>(major)));
        }
    }
    return Error(
        Errc::not_found,
        who(manifest, path) + ": not a daybook plugin: it does not export daybook_plugin_v1");
}

}  // namespace

Result<Manifest> read_manifest(const std::string& path) {
    auto note = note_of_file(path);
    if (!note) {
        return note.error();
    }
    auto manifest = Manifest::parse(*note);
    if (!manifest) {
        return manifest.error().during(path + ": manifest");
    }
    if (manifest->abi_major != DAYBOOK_ABI_MAJOR) {
        return Error(Errc::unsupported, other_major(*manifest, path, manifest->abi_major));
    }
    if (manifest->min_host_minor > DAYBOOK_ABI_MINOR) {
        const std::string wanted =
            std::to_string(manifest->abi_major) + "." + std::to_string(manifest->min_host_minor);
        return Error(
            Errc::unsupported,
            who(*manifest, path) + ": built for daybook ABI " +
                std::to_string(manifest->abi_major) + "." + std::to_string(manifest->abi_minor) +
                " and needs host minor >= " + std::to_string(manifest->min_host_minor) +
                "; this host serves " + host_abi() + ". Upgrade daybook to one that serves " +
                wanted + ", or rebuild the plugin with DAYBOOK_ABI_TARGET for " + host_abi());
    }
    return manifest;
}

Result<const daybook_plugin*> load_module(const std::string& path, const Manifest& manifest) {
    auto library = open_library(path, manifest);
    if (!library) {
        return library.error();
    }
    void* const symbol = ::dlsym(*library, "daybook_plugin_v1");
    if (symbol == nullptr) {
        return no_entry(*library, manifest, path);
    }
    if (!is_function(symbol)) {
        return Error(Errc::unsupported,
                     who(manifest, path) + ": daybook_plugin_v1 is data, not a function");
    }
    using Entry = const daybook_plugin* (*)(std::uint32_t, std::uint32_t);
    const auto entry = reinterpret_cast<Entry>(symbol);
    const daybook_plugin* descriptor = entry(DAYBOOK_ABI_MAJOR, DAYBOOK_ABI_MINOR);
    if (descriptor == nullptr) {
        return Error(
            Errc::refused,
            who(manifest, path) + ": says that it cannot work with daybook ABI " + host_abi());
    }
    return descriptor;
}

}  // namespace daybook::runner
