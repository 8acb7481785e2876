#include "host/plugin/plugin_file.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "host/format/sha256.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

Error not_found(const std::string& file_name,
                const std::vector<fs::path>& folders,
                const PluginConfig& config) {
    std::string looked;
    for (const fs::path& folder : folders) {
        looked += (looked.empty() ? "" : ", ") + folder.string();
    }
    return Error(Errc::not_found,
                 "no file " + printable(file_name) + " in " +
                     (looked.empty() ? "any folder" : looked) +
                     "; put it there, or name it with file = \"/…/" + printable(config.name) +
                     ".so\" in [plugin." + printable(config.name) + "]");
}

}  // namespace

Result<PluginFile> find_plugin_file(const std::vector<fs::path>& search_path,
                                    const PluginConfig& config) {
    const std::string name = config.file.empty() ? config.name + ".so" : config.file;
    const fs::path as_path(name);
    std::vector<fs::path> folders = search_path;
    if (as_path.is_absolute()) {
        folders = {as_path.parent_path()};
    } else if (as_path.has_parent_path()) {
        return Error(Errc::invalid,
                     "file = \"" + printable(name) + "\": wanted a file name or an absolute path");
    }
    std::vector<fs::path> found;
    for (const fs::path& folder : folders) {
        std::error_code error;
        const fs::path file = fs::canonical(folder / as_path.filename(), error);
        if (!error && std::find(found.begin(), found.end(), file) == found.end()) {
            found.push_back(file);
        }
    }
    if (found.empty()) {
        return not_found(as_path.filename().string(), folders, config);
    }
    return PluginFile{found.front(), {found.begin() + 1, found.end()}};
}

Result<std::string> read_plugin_file(Os& os, const fs::path& file) {
    auto folder = os.open_root(file.parent_path());
    if (!folder) {
        return folder.error();
    }
    auto folder_stat = os.stat_of(folder->get());
    if (!folder_stat) {
        return folder_stat.error();
    }
    auto opened = os.open_beneath(folder->get(), file.filename().string(), OpenMode::read);
    if (!opened) {
        return opened.error();
    }
    // Of the very descriptor that is read: what is checked is what is copied.
    auto stat = os.stat_of(opened->get());
    if (!stat) {
        return stat.error();
    }
    if (!S_ISREG(stat->st_mode)) {
        return Error(Errc::refused, "it is not a regular file");
    }
    if ((stat->st_mode & S_IWOTH) != 0) {
        return Error(Errc::refused, "everybody may write it; take that away with chmod o-w");
    }
    if ((folder_stat->st_mode & S_IWOTH) != 0 && (folder_stat->st_mode & S_ISVTX) == 0) {
        return Error(Errc::refused,
                     "everybody may replace it in its folder; take that away with chmod o-w " +
                         file.parent_path().string());
    }
    return os.read_all(opened->get(), kMaxPluginBytes);
}

Result<std::string> keep_module(Os& os,
                                int state_dir,
                                std::string_view bytes,
                                const std::string& sha256) {
    if (auto made = os.make_directory(state_dir, "modules"); !made) {
        return made.error();
    }
    const std::string path = module_path(sha256);
    const auto kept = read_file(os, state_dir, path, kMaxPluginBytes);
    if (kept && *kept == bytes) {  // `bytes` have that hash: the same bytes need no hashing
        return path;
    }
    // Absent, or torn by a crash, or changed: written anew beside it and put in its place. A runner
    // that has the old file loaded keeps it.
    if (auto written = write_file_durably(os, state_dir, path, bytes, 0444); !written) {
        return written.error();
    }
    return path;
}

std::string module_path(const std::string& sha256) {
    return "modules/" + sha256 + ".so";
}

std::string hash_on_path(Os& os,
                         const std::vector<fs::path>& search_path,
                         const PluginConfig& config) {
    const auto found = find_plugin_file(search_path, config);
    const auto bytes = found ? read_plugin_file(os, found->file)
                             : Result<std::string>(Error(Errc::not_found, "no file"));
    return bytes ? sha256_hex(*bytes) : std::string();
}

bool pin_stands(Os& os,
                int state_dir,
                const std::vector<fs::path>& search_path,
                const PluginConfig& config,
                const PluginState& state) {
    if (!state.pinned || !state.current) {
        return false;
    }
    const std::string& hash = state.current->sha256;
    const auto kept = read_file(os, state_dir, module_path(hash), kMaxPluginBytes);
    if (!kept || sha256_hex(*kept) != hash) {
        return false;
    }
    const std::string on_path = hash_on_path(os, search_path, config);
    return on_path.empty() || on_path == state.passed_over || on_path == hash;
}

}  // namespace daybook
