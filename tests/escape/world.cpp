#include "tests/escape/world.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <linux/fs.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace daybook::escape {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContents[] = {"desk", "other", "keys", "store", "scratch", "elsewhere"};

/// Flags of a file as chattr shows them; 0 where the file system has none.
int flags_of(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int flags = 0;
    if (fd >= 0) {
        if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
            flags = 0;
        }
        ::close(fd);
    }
    return flags;
}

std::string attributes_of(const std::string& path) {
    std::array<char, 512> names{};
    const ssize_t bytes = ::llistxattr(path.c_str(), names.data(), names.size());
    return bytes <= 0 ? std::string() : std::string(names.data(), static_cast<std::size_t>(bytes));
}

std::string line_of(const fs::path& path, const std::string& name, const std::string& content) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return name + " gone";
    }
    std::ostringstream line;
    line << name << ' ' << std::oct << status.st_mode << std::dec << ' ' << status.st_uid << ' '
         << status.st_gid << ' ' << status.st_nlink << ' ' << status.st_size << ' ' << status.st_ino
         << ' ' << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec << ' '
         << status.st_ctim.tv_sec << '.' << status.st_ctim.tv_nsec << ' ' << flags_of(path) << ' '
         << attributes_of(path) << ' ' << content << '\n';
    return line.str();
}

void open_to_all(const fs::path& path) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
        if (!entry.is_symlink()) {
            fs::permissions(entry.path(), entry.is_directory() ? fs::perms::all : fs::perms(0666));
        }
    }
    fs::permissions(path, fs::perms::all);
}

}  // namespace

EscapeWorld::EscapeWorld(const fs::path& runner, const fs::path& module) : module_(module) {
    fs::permissions(folder_.path(), fs::perms::all);
    fs::create_directory(folder_ / "modules");
    fs::create_directory(folder_ / "libexec");
    fs::copy_file(runner, folder_ / "libexec/daybook-runner");
    // The attempts as a program; beside the module it finds the world as the module does.
    fs::copy_file(module.parent_path() / "escape_program", folder_ / "modules/escape_program");
    for (const char* name :
         {"modules", "modules/escape_program", "libexec", "libexec/daybook-runner"}) {
        fs::permissions(folder_ / name, fs::perms::all);
    }
    restore();
}

void EscapeWorld::restore() const {
    for (const char* name : kContents) {
        fs::remove_all(folder_ / name);
    }
    if (!fs::exists(folder_ / "modules/escape.so")) {
        fs::copy_file(module_, folder_ / "modules/escape.so");
        fs::permissions(folder_ / "modules/escape.so", fs::perms::all);
    }
    folder_.write("desk/Memory.md", "what the desk knows\n");
    folder_.write("desk/notes/2026-10-19.md", "- a note\n");
    folder_.write("other/Memory.md", "what another desk knows\n");
    folder_.write("keys/key", "sk-secret\n");
    folder_.write("store/HEAD", "ref: refs/daybook/main\n");
    folder_.write("scratch/own/index.db", "an index\n");
    folder_.write("scratch/own/program", "#!/bin/sh\n");
    folder_.write("scratch/theirs/index.db", "their index\n");
    fs::create_directory(folder_ / "desk/empty");
    fs::create_directory(folder_ / "scratch/own/empty");
    for (const char* name : {"desk", "other", "keys", "store", "scratch"}) {
        open_to_all(folder_ / name);
    }
    fs::permissions(folder_ / "scratch/own/program", fs::perms::all);
    fs::create_symlink(folder_ / "keys/key", folder_ / "desk/link-to-key");
    fs::create_hard_link(folder_ / "keys/key", folder_ / "desk/hard-key");
    fs::create_symlink(folder_ / "desk/Memory.md", folder_ / "scratch/own/planted");
    fs::create_symlink(folder_ / "desk", folder_ / "scratch/own/planted-folder");
    fs::create_hard_link(folder_ / "other/Memory.md", folder_ / "scratch/own/planted-hard");
    fs::create_symlink("keys/key", folder_ / "elsewhere");
    // Not every file system keeps them; where they are kept, their removal is seen.
    static_cast<void>(::setxattr(at("desk/Memory.md").c_str(), "user.kept", "1", 1, 0));
}

std::string EscapeWorld::snapshot(const std::string& except) const {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
        const std::string name = fs::relative(entry.path(), folder_.path()).string();
        if (!except.empty() && (name == except || name.starts_with(except + "/"))) {
            continue;
        }
        const bool is_small = entry.is_regular_file() && !entry.is_symlink() &&
                              !name.starts_with("modules/") && !name.starts_with("libexec/");
        lines.push_back(line_of(entry.path(), name, is_small ? folder_.read(name) : ""));
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) {
        all += line;
    }
    return all;
}

}  // namespace daybook::escape
