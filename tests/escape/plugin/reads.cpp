// Reading what is not the plugin's business.
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

constexpr long kListmount = 458;

Outcome listed(const std::string& folder) {
    DIR* const open = ::opendir(folder.c_str());
    if (open == nullptr) {
        return {errno, {}};
    }
    const bool has_entry = ::readdir(open) != nullptr;
    ::closedir(open);
    return {has_entry ? 0 : ENOENT, {}};
}

Outcome of_host(const Target& target, const char* file) {
    return tried_read("/proc/" + std::to_string(target.pid) + "/" + file);
}

/// Opens a file by its handle, without a path that Landlock could look at.
Outcome by_handle(const Target& target) {
    struct {
        unsigned bytes = 128;
        int type = 0;
        char handle[128] = {};
    } name;
    int mount = 0;
    if (::syscall(SYS_name_to_handle_at, AT_FDCWD, target.key.c_str(), &name, &mount, 0) != 0) {
        return {errno, {}};
    }
    return with_reader(target.root + "/desk", [&](int fd) {
        return tried(::syscall(SYS_open_by_handle_at, fd, &name, O_RDONLY));
    });
}

Outcome read_above(const Target& target) {
    return with_reader(target.root + "/desk", [](int fd) {
        return tried(::syscall(SYS_openat, fd, "../keys/key", O_RDONLY, 0));
    });
}

Outcome link_target(const std::string& path) {
    char text[64] = {};
    const ssize_t bytes = ::readlink(path.c_str(), text, sizeof text);
    return bytes < 0 ? Outcome{errno, {}}
                     : Outcome{0, std::string(text, static_cast<std::size_t>(bytes))};
}

Outcome robust_list_of_host(const Target& target) {
    void* head = nullptr;
    std::size_t bytes = 0;
    return tried(::syscall(SYS_get_robust_list, target.pid, &head, &bytes));
}

constexpr Attempt kAttempts[] = {
    {"r01_read_own_desk",
     "read the own desk's Memory.md",
     [](const Target& t) { return tried_read(t.memory); }},
    {"r02_read_other_desk",
     "read another desk's Memory.md",
     [](const Target& t) { return tried_read(t.other); }},
    {"r03_read_api_key", "read a key file", [](const Target& t) { return tried_read(t.key); }},
    {"r04_environment_secret",
     "find the host's secret in the own environment",
     [](const Target&) {
         const char* const found = ::getenv("DAYBOOK_ESCAPE_SECRET");
         return found == nullptr ? Outcome{ENOENT, {}} : Outcome{0, found};
     }},
    {"r05_host_environ",
     "read the host's environment in /proc",
     [](const Target& t) { return of_host(t, "environ"); }},
    {"r06_stat_other_desk",
     "stat another desk's Memory.md",
     [](const Target& t) {
         struct stat status {};
         return tried(::stat(t.other.c_str(), &status));
     }},
    {"r07_list_desks",
     "list the folder that holds the desks",
     [](const Target& t) { return listed(t.root); }},
    {"r08_inotify",
     "watch another desk",
     [](const Target&) { return tried(::syscall(SYS_inotify_init1, 0)); }},
    {"r09_symlink_to_key",
     "read the key through a symbolic link in the desk",
     [](const Target& t) { return tried_read(t.root + "/desk/link-to-key"); }},
    {"r10_hardlink_of_key",
     "read the key through a hard link that somebody put into the desk",
     [](const Target& t) { return tried_read(t.root + "/desk/hard-key"); }},
    {"r11_open_by_handle", "open the key by its handle", &by_handle},
    {"r12_host_cmdline",
     "read the host's command line",
     [](const Target& t) { return of_host(t, "cmdline"); }},
    {"r13_etc_passwd", "read /etc/passwd", [](const Target&) { return tried_read("/etc/passwd"); }},
    {"r14_own_environ",
     "read /proc/self/environ",
     [](const Target&) { return tried_read("/proc/self/environ"); }},
    {"x40_host_maps",
     "read the host's address map",
     [](const Target& t) { return of_host(t, "maps"); }},
    {"x41_host_descriptors",
     "list the host's open descriptors",
     [](const Target& t) { return listed("/proc/" + std::to_string(t.pid) + "/fd"); }},
    {"x42_host_exe",
     "ask which program the host is",
     [](const Target& t) { return link_target("/proc/" + std::to_string(t.pid) + "/exe"); }},
    {"x43_readlink",
     "read where a symbolic link points",
     [](const Target& t) { return link_target(t.root + "/elsewhere"); }},
    {"x44_read_above", "read the key by .. of the desk's descriptor", &read_above},
    {"x45_list_root", "list the root folder", [](const Target&) { return listed("/"); }},
    {"x46_read_store",
     "read the checkpoint store",
     [](const Target& t) { return tried_read(t.root + "/store/HEAD"); }},
    {"x47_read_theirs",
     "read another plugin's scratch folder",
     [](const Target& t) { return tried_read(t.root + "/scratch/theirs/index.db"); }},
    {"x48_host_robust_list",
     "ask for an address in the host (get_robust_list)",
     &robust_list_of_host},
    {"x49_host_root",
     "reach the key through /proc of the host",
     [](const Target& t) {
         return tried_read("/proc/" + std::to_string(t.pid) + "/root" + t.key);
     }},
    {"x50_listmount",
     "list the mounts (Linux 6.8)",
     [](const Target&) { return tried(::syscall(kListmount, nullptr, nullptr, 0UL, 0U)); }},
    {"x51_mountinfo",
     "read the mounts in /proc",
     [](const Target&) { return tried_read("/proc/self/mountinfo"); }},
};

}  // namespace

std::span<const Attempt> read_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
