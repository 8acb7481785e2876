// Profile scratch: ways out of the own folder, by links, moves and planted names.
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

std::string own(const Target& target, const char* name = "index.db") {
    return target.scratch + "/" + name;
}

Outcome moved(const std::string& from, const std::string& to, unsigned flags = 0) {
    return tried(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags));
}

Outcome reopen_desk_file(const Target& target) {
    const Outcome opened = tried_open(target.memory, O_PATH);
    return opened.error != 0 ? opened
                             : tried_write("/proc/self/fd/" + opened.text, O_WRONLY | O_APPEND);
}

Outcome write_above(const Target& target) {
    return with_reader(target.scratch, [](int fd) {
        return tried(::syscall(SYS_openat, fd, "../../desk/Memory.md", O_WRONLY | O_TRUNC, 0));
    });
}

Outcome make_and_link(const Target& target) {
    const Outcome opened = tried_open(target.scratch, O_TMPFILE | O_RDWR);
    const std::string name = "/proc/self/fd/" + opened.text;
    return opened.error != 0 ? opened
                             : tried(::linkat(AT_FDCWD,
                                              name.c_str(),
                                              AT_FDCWD,
                                              (target.root + "/desk/new").c_str(),
                                              AT_SYMLINK_FOLLOW));
}

constexpr Attempt kAttempts[] = {
    {"s30_link_desk_file",
     "link a desk file into the scratch folder",
     [](const Target& t) { return tried(::link(t.memory.c_str(), own(t, "linked").c_str())); }},
    {"s31_symlink_desk_file",
     "make a symbolic link to a desk file",
     [](const Target& t) { return tried(::symlink(t.memory.c_str(), own(t, "way").c_str())); }},
    {"s32_write_planted_link",
     "write a desk file through a planted symbolic link",
     [](const Target& t) { return tried_write(own(t, "planted"), O_WRONLY | O_APPEND); }},
    {"s33_create_planted_folder",
     "create a file through a planted link to the desk's folder",
     [](const Target& t) { return tried_write(own(t, "planted-folder/new"), O_WRONLY | O_CREAT); }},
    {"s34_write_planted_hardlink",
     "write another desk's file through a hard link that somebody planted",
     [](const Target& t) { return tried_write(own(t, "planted-hard"), O_WRONLY | O_APPEND); }},
    {"s35_truncate_planted_link",
     "truncate(2) a desk file through a planted link",
     [](const Target& t) { return tried(::truncate(own(t, "planted").c_str(), 0)); }},
    {"s36_mode3_planted_link",
     "empty a desk file through a planted link, access mode 3 and O_TRUNC",
     [](const Target& t) { return tried_open(own(t, "planted"), O_ACCMODE | O_TRUNC); }},
    {"s37_move_over_desk_file",
     "move an own file over Memory.md",
     [](const Target& t) { return moved(own(t), t.memory); }},
    {"s38_move_desk_file_in",
     "move Memory.md into the scratch folder",
     [](const Target& t) { return moved(t.memory, own(t, "taken")); }},
    {"s39_exchange",
     "exchange an own file with Memory.md",
     [](const Target& t) { return moved(own(t), t.memory, 2); }},
    {"s40_move_folder_over",
     "move an own folder over the desk's",
     [](const Target& t) { return moved(own(t, "empty"), t.root + "/desk/empty"); }},
    {"s41_move_across_folders",
     "move an own file into an own sub-folder",
     [](const Target& t) { return moved(own(t), own(t, "empty/index.db")); }},
    {"s42_write_above", "empty Memory.md by .. of the own folder's descriptor", &write_above},
    {"s43_reopen_desk_file", "reopen an O_PATH descriptor of Memory.md", &reopen_desk_file},
    {"s44_tmpfile_link", "make a nameless file and link it into the desk", &make_and_link},
    {"s45_move_own_root",
     "move the own scratch folder away",
     [](const Target& t) { return moved(t.scratch, t.root + "/scratch/moved"); }},
    {"s46_create_beside",
     "create a file beside the own folder",
     [](const Target& t) { return tried_write(t.root + "/scratch/new", O_WRONLY | O_CREAT); }},
    {"s47_write_theirs",
     "write another plugin's index",
     [](const Target& t) {
         return tried_write(t.root + "/scratch/theirs/index.db", O_WRONLY | O_APPEND);
     }},
    {"s48_var_tmp",
     "create a file in /var/tmp",
     [](const Target& t) {
         return tried_write("/var/tmp/daybook-escape-" + std::to_string(t.pid), O_WRONLY | O_CREAT);
     }},
    {"s49_lock_desk_file",
     "take a write lock on Memory.md",
     [](const Target& t) {
         const Outcome opened = tried_open(t.memory, O_RDWR);
         struct flock range {};
         range.l_type = F_WRLCK;
         return opened.error != 0 ? opened
                                  : tried(::fcntl(std::stoi(opened.text), F_SETLK, &range));
     }},
    {"s50_oom_score",
     "lower its chance to be killed when memory is short",
     [](const Target&) { return tried_write("/proc/self/oom_score_adj", O_WRONLY); }},
    {"s51_open_as_index",
     "open Memory.md as SQLite would, O_RDWR and O_CREAT",
     [](const Target& t) { return tried_open(t.memory, O_RDWR | O_CREAT); }},
};

}  // namespace

std::span<const Attempt> scratch_link_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
