// Profile scratch: what an index needs works in the plugin's own folder. In profile pure the same
// acts fail.
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

std::string own(const Target& target, const char* name = "index.db") {
    return target.scratch + "/" + name;
}

Outcome grow_file(const Target& target, off_t bytes) {
    const Outcome opened = tried_open(own(target), O_RDWR);
    return opened.error != 0 ? opened : tried(::ftruncate(std::stoi(opened.text), bytes));
}

Outcome allocate_past(const Target& target) {
    const Outcome opened = tried_open(own(target), O_RDWR);
    return opened.error != 0
               ? opened
               : tried(::syscall(
                     SYS_fallocate, std::stoi(opened.text), 1 /* keep size */, 0L, 200L << 20));
}

Outcome index_works(const Target& target) {
    sqlite3* open = nullptr;
    int step = sqlite3_open(own(target, "fresh.db").c_str(), &open);
    for (const char* sql : {"pragma journal_mode=wal",
                            "create table t(x)",
                            "insert into t values(1)",
                            "pragma wal_checkpoint(truncate)"}) {
        step = step == SQLITE_OK ? sqlite3_exec(open, sql, nullptr, nullptr, nullptr) : step;
    }
    sqlite3_close(open);
    return {step == SQLITE_OK ? 0 : EIO, {}};
}

Outcome shared_mapping(const Target& target) {
    const Outcome opened = tried_open(own(target), O_RDWR);
    if (opened.error != 0) {
        return opened;
    }
    void* const at =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, std::stoi(opened.text), 0);
    return {at == MAP_FAILED ? errno : 0, {}};
}

Outcome write_lock(const Target& target) {
    const Outcome opened = tried_open(own(target), O_RDWR);
    struct flock range {};
    range.l_type = F_WRLCK;
    return opened.error != 0 ? opened : tried(::fcntl(std::stoi(opened.text), F_SETLK, &range));
}

constexpr Attempt kAttempts[] = {
    {"s01_create",
     "create a file in the own scratch folder",
     [](const Target& t) { return tried_write(own(t, "new"), O_WRONLY | O_CREAT | O_EXCL); }},
    {"s02_append",
     "append to an own file",
     [](const Target& t) { return tried_write(own(t), O_WRONLY | O_APPEND); }},
    {"s03_truncate_open",
     "open an own file with O_WRONLY and O_TRUNC",
     [](const Target& t) { return tried_write(own(t), O_WRONLY | O_TRUNC); }},
    {"s04_rename",
     "rename an own file in its folder",
     [](const Target& t) { return tried(::rename(own(t).c_str(), own(t, "moved").c_str())); }},
    {"s05_unlink",
     "remove an own file",
     [](const Target& t) { return tried(::unlink(own(t).c_str())); }},
    {"s06_mkdir",
     "make a folder in it",
     [](const Target& t) { return tried(::mkdir(own(t, "folder").c_str(), 0700)); }},
    {"s07_rmdir",
     "remove an own folder",
     [](const Target& t) { return tried(::rmdir(own(t, "empty").c_str())); }},
    {"s08_ftruncate", "ftruncate an own file", [](const Target& t) { return grow_file(t, 4096); }},
    {"s09_mmap_shared", "map an own file for writing", &shared_mapping},
    {"s10_write_lock", "take a write lock on an own file", &write_lock},
    {"s11_sqlite", "keep an SQLite index with a write-ahead log", &index_works},
    {"s12_grow_past_bound",
     "grow a file past the bound",
     [](const Target& t) { return grow_file(t, off_t{64} << 20); }},
    {"s13_fallocate_past_bound", "reserve blocks past the bound by fallocate", &allocate_past},
    {"s14_o_tmpfile",
     "make a nameless file in it",
     [](const Target& t) { return tried_open(t.scratch, O_TMPFILE | O_RDWR); }},
    {"s15_setuid_mode",
     "create a file with the set-user-id bit",
     [](const Target& t) { return tried_open(own(t, "new"), O_WRONLY | O_CREAT, 04700); }},
    {"s16_setgid_folder",
     "make a folder with the set-group-id bit",
     [](const Target& t) { return tried(::mkdir(own(t, "folder").c_str(), 02700)); }},
    {"s17_chmod",
     "chmod an own file",
     [](const Target& t) { return tried(::chmod(own(t).c_str(), 04755)); }},
    {"s18_chown",
     "chown an own file",
     [](const Target& t) { return tried(::chown(own(t).c_str(), ::getuid(), ::getgid())); }},
    {"s19_utimes",
     "set the times of an own file",
     [](const Target& t) { return tried(::utimensat(AT_FDCWD, own(t).c_str(), nullptr, 0)); }},
    {"s20_setxattr",
     "set an extended attribute of an own file",
     [](const Target& t) {
         return tried(::syscall(SYS_setxattr, own(t).c_str(), "user.x", "1", 1UL, 0));
     }},
    {"s21_fifo",
     "make a fifo in it",
     [](const Target& t) { return tried(::mknod(own(t, "fifo").c_str(), S_IFIFO | 0600, 0)); }},
    {"s22_device",
     "make a device in it",
     [](const Target& t) {
         return tried(::mknod(own(t, "device").c_str(), S_IFCHR | 0600, 0x0103));
     }},
    {"s23_exec",
     "become an own program",
     [](const Target& t) {
         const char* const words[] = {"x", nullptr};
         return tried(::syscall(SYS_execve, own(t, "program").c_str(), words, nullptr));
     }},
    {"s24_truncate",
     "truncate(2) an own file",
     [](const Target& t) { return tried(::truncate(own(t).c_str(), 0)); }},
};

}  // namespace

std::span<const Attempt> scratch_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
