// Writing: contents that change, files that appear.
#include <array>
#include <cstdint>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

std::string beside(const Target& target, const char* name) {
    return target.root + "/desk/" + name;
}

Outcome link_nameless(const Target& target) {
    const Outcome opened = tried_open(target.root + "/desk", O_TMPFILE | O_RDWR);
    if (opened.error != 0) {
        return opened;
    }
    const std::string name = "/proc/self/fd/" + opened.text;
    return tried(::linkat(
        AT_FDCWD, name.c_str(), AT_FDCWD, beside(target, "new").c_str(), AT_SYMLINK_FOLLOW));
}

Outcome reopen_through_proc(const Target& target) {
    return with_reader(target.memory, [](int fd) {
        return tried_write("/proc/self/fd/" + std::to_string(fd), O_WRONLY | O_APPEND);
    });
}

Outcome reopen_path_descriptor(const Target& target) {
    const Outcome opened = tried_open(target.memory, O_PATH);
    return opened.error != 0 ? opened
                             : tried_write("/proc/self/fd/" + opened.text, O_WRONLY | O_APPEND);
}

Outcome shared_mapping(const Target& target) {
    const Outcome opened = tried_open(target.memory, O_RDWR);
    if (opened.error != 0) {
        return opened;
    }
    void* const at =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, std::stoi(opened.text), 0);
    if (at == MAP_FAILED) {
        return {errno, {}};
    }
    *static_cast<char*>(at) = 'X';
    return tried(::msync(at, 4096, MS_SYNC));
}

Outcome writable_by_mprotect(const Target& target) {
    return with_reader(target.memory, [](int fd) {
        void* const at = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED) {
            return Outcome{errno, {}};
        }
        const Outcome widened = tried(::mprotect(at, 4096, PROT_READ | PROT_WRITE));
        if (widened.error == 0) {
            *static_cast<char*>(at) = 'X';
        }
        return widened;
    });
}

Outcome copy_range_into(const Target& target) {
    const Outcome to = tried_open(target.memory, O_RDWR);
    if (to.error != 0) {
        return to;
    }
    return with_reader(target.memory, [&](int from) {
        return tried(
            ::syscall(SYS_copy_file_range, from, nullptr, std::stoi(to.text), nullptr, 4UL, 0U));
    });
}

/// io_uring does the open in the kernel, out of reach of a filter.
Outcome ring(const Target&) {
    std::array<std::uint64_t, 16> parameters{};
    return tried(::syscall(SYS_io_uring_setup, 1U, parameters.data()));
}

Outcome open_by_openat2(const Target& target) {
    const std::array<std::uint64_t, 3> how{O_WRONLY, 0, 0};
    return tried(::syscall(SYS_openat2, AT_FDCWD, target.memory.c_str(), how.data(), sizeof how));
}

constexpr Attempt kAttempts[] = {
    {"w01_open_write",
     "open Memory.md for writing",
     [](const Target& t) { return tried_write(t.memory, O_WRONLY | O_APPEND); }},
    {"w02_open_rdonly_trunc",
     "open Memory.md for reading with O_TRUNC",
     [](const Target& t) { return tried_open(t.memory, O_RDONLY | O_TRUNC); }},
    {"w03_create",
     "create a file beside Memory.md",
     [](const Target& t) { return tried_write(beside(t, "new"), O_WRONLY | O_CREAT); }},
    {"w04_o_tmpfile_linkat", "make a nameless file and link it in", &link_nameless},
    {"w17_truncate",
     "truncate(2) Memory.md",
     [](const Target& t) { return tried(::truncate(t.memory.c_str(), 0)); }},
    {"w18_proc_self_fd_reopen",
     "reopen a read-only descriptor for writing through /proc/self/fd",
     &reopen_through_proc},
    {"w21_mmap_shared", "write Memory.md through a shared mapping", &shared_mapping},
    {"w22_mprotect_map", "make a read-only mapping of Memory.md writable", &writable_by_mprotect},
    {"w23_inherited_fd",
     "write to a descriptor that the host had open at the start",
     [](const Target& t) { return tried(::write(t.fd, "hostile\n", 8)); }},
    {"w29_io_uring", "set up io_uring", &ring},
    {"w31_dev_shm",
     "create a file in /dev/shm",
     [](const Target& t) {
         return tried_write("/dev/shm/daybook-escape-" + std::to_string(t.pid), O_RDWR | O_CREAT);
     }},
    {"w35_proc_sys",
     "open /proc/sys/kernel/core_pattern for writing",
     [](const Target&) { return tried_open("/proc/sys/kernel/core_pattern", O_WRONLY); }},
    {"w40_fallocate_punch",
     "punch a hole into Memory.md",
     [](const Target& t) {
         return with_reader(t.memory, [](int fd) {
             return tried(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8));
         });
     }},
    {"x03_open_mode3_trunc",
     "open Memory.md with access mode 3 and O_TRUNC",
     [](const Target& t) { return tried_open(t.memory, O_ACCMODE | O_TRUNC); }},
    {"x04_creat",
     "creat(2) over Memory.md",
     [](const Target& t) { return tried(::creat(t.memory.c_str(), 0600)); }},
    {"x05_create_rdonly",
     "create a file with a read-only open",
     [](const Target& t) { return tried_open(beside(t, "new"), O_RDONLY | O_CREAT); }},
    {"x06_openat2", "openat2 of Memory.md for writing", &open_by_openat2},
    {"x07_path_fd_reopen", "reopen an O_PATH descriptor for writing", &reopen_path_descriptor},
    {"x08_memfd",
     "make an anonymous file",
     [](const Target&) { return tried(::syscall(SYS_memfd_create, "hostile", 0U)); }},
    {"x09_tmp_file",
     "create a file in /tmp",
     [](const Target& t) {
         return tried_write("/tmp/daybook-escape-" + std::to_string(t.pid), O_WRONLY | O_CREAT);
     }},
    {"x10_append_other",
     "append to another desk's Memory.md",
     [](const Target& t) { return tried_write(t.other, O_WRONLY | O_APPEND); }},
    {"x11_write_store",
     "write into the checkpoint store",
     [](const Target& t) { return tried_write(t.root + "/store/HEAD", O_WRONLY); }},
    {"x12_write_through_link",
     "write the key file through a link in the desk",
     [](const Target& t) { return tried_write(beside(t, "link-to-key"), O_WRONLY); }},
    {"x13_copy_file_range", "copy_file_range into Memory.md", &copy_range_into},
    {"x14_own_module",
     "write the plugin's own file",
     [](const Target& t) { return tried_open(t.root + "/modules/escape.so", O_WRONLY); }},
    {"x15_ftruncate_reader",
     "ftruncate a read-only descriptor of Memory.md",
     [](const Target& t) {
         return with_reader(t.memory, [](int fd) { return tried(::ftruncate(fd, 0)); });
     }},
    {"x16_dev_null",
     "open /dev/null for writing",
     [](const Target&) { return tried_open("/dev/null", O_WRONLY); }},
    {"x17_proc_self_mem",
     "open its own memory for writing",
     [](const Target&) { return tried_open("/proc/self/mem", O_RDWR); }},
};

}  // namespace

std::span<const Attempt> write_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
