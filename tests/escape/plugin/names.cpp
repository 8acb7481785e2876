// Names: renames, links, removals, new entries of a folder.
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

constexpr unsigned kNoReplace = 1;
constexpr unsigned kExchange = 2;
constexpr unsigned kWhiteout = 4;

std::string beside(const Target& target, const char* name) {
    return target.root + "/desk/" + name;
}

Outcome rename_with(const std::string& from, const std::string& to, unsigned flags) {
    return tried(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags));
}

/// Leaves the desk by `..` of a descriptor and removes a file there.
Outcome unlink_above(const Target& target) {
    return with_reader(target.root + "/desk",
                       [](int fd) { return tried(::unlinkat(fd, "../other/Memory.md", 0)); });
}

constexpr Attempt kAttempts[] = {
    {"w05_rename_over",
     "rename another desk's file over Memory.md",
     [](const Target& t) { return tried(::rename(t.other.c_str(), t.memory.c_str())); }},
    {"w06_rename_exchange",
     "exchange Memory.md with another desk's",
     [](const Target& t) { return rename_with(t.memory, t.other, kExchange); }},
    {"w07_hardlink_into_desk",
     "link another desk's file into the desk",
     [](const Target& t) { return tried(::link(t.other.c_str(), beside(t, "linked").c_str())); }},
    {"w08_symlink",
     "make a symbolic link in the desk",
     [](const Target& t) { return tried(::symlink(t.key.c_str(), beside(t, "way").c_str())); }},
    {"w09_unlink",
     "remove Memory.md",
     [](const Target& t) { return tried(::unlink(t.memory.c_str())); }},
    {"w10_rmdir",
     "remove an empty folder of the desk",
     [](const Target& t) { return tried(::rmdir(beside(t, "empty").c_str())); }},
    {"w11_mkdir",
     "make a folder in the desk",
     [](const Target& t) { return tried(::mkdir(beside(t, "folder").c_str(), 0700)); }},
    {"w12_mkfifo",
     "make a fifo in the desk",
     [](const Target& t) { return tried(::mknod(beside(t, "fifo").c_str(), S_IFIFO | 0600, 0)); }},
    {"x20_rename_noreplace",
     "move Memory.md to a new name",
     [](const Target& t) { return rename_with(t.memory, beside(t, "moved"), kNoReplace); }},
    {"x21_rename_whiteout",
     "move Memory.md and leave a whiteout",
     [](const Target& t) { return rename_with(t.memory, beside(t, "moved"), kWhiteout); }},
    {"x22_rename_folder",
     "move the notes folder away",
     [](const Target& t) {
         return tried(::rename(beside(t, "notes").c_str(), beside(t, "gone").c_str()));
     }},
    {"x23_unlink_above", "remove another desk's file by .. of a descriptor", &unlink_above},
    {"x24_mksocket",
     "make a socket file in the desk",
     [](const Target& t) {
         return tried(::mknod(beside(t, "socket").c_str(), S_IFSOCK | 0600, 0));
     }},
    {"x25_unlink_module",
     "remove the plugin's own file",
     [](const Target& t) { return tried(::unlink((t.root + "/modules/escape.so").c_str())); }},
};

}  // namespace

std::span<const Attempt> name_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
