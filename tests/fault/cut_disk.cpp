#include "tests/fault/cut_disk.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <stdexcept>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/checkpoint/store_fixture.hpp"

namespace daybook::test {
namespace fs = std::filesystem;
namespace {

constexpr int kCopies = 200;
constexpr std::size_t kBlock = 1UL << 20;

std::string system_reason(const std::string& what) {
    return what + ": " + std::strerror(errno);
}

/// In a mount namespace of our own a mount is gone with the process, whatever ends it.
std::string leave_others_mounts() {
    static const std::string kWhyNot = [] {
        if (::unshare(CLONE_NEWNS) != 0) {
            return system_reason("make a mount namespace");
        }
        return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
                   ? std::string()
                   : system_reason("keep mounts to ourselves");
    }();
    return kWhyNot;
}

/// Copies what differs. True when nothing did.
bool bring_up_to_date(const fs::path& from, const fs::path& to) {
    std::ifstream in(from, std::ios::binary);
    std::fstream out(to, std::ios::binary | std::ios::in | std::ios::out);
    std::string one(kBlock, '\0');
    std::string other(kBlock, '\0');
    bool is_same = true;
    for (std::streamoff at = 0;; at += static_cast<std::streamoff>(kBlock)) {
        in.read(one.data(), static_cast<std::streamsize>(kBlock));
        const std::streamsize got = in.gcount();
        if (got <= 0) {
            return is_same;
        }
        out.clear();
        out.seekg(at);
        out.read(other.data(), got);
        const auto size = static_cast<std::size_t>(got);
        if (out.gcount() != got || std::memcmp(one.data(), other.data(), size) != 0) {
            is_same = false;
            out.clear();
            out.seekp(at);
            out.write(one.data(), got);
        }
    }
}

}  // namespace

CutDisk::CutDisk(const std::string& megabytes, const std::string& options) : options_(options) {
    if (::geteuid() != 0) {
        why_not_ = "only root can mount";
        return;
    }
    why_not_ = leave_others_mounts();
    if (!why_not_.empty()) {
        return;
    }
    fs::create_directories(folder_ / "memory");
    fs::create_directories(place());
    if (::mount("none", (folder_ / "memory").c_str(), "tmpfs", 0, "mode=0700") != 0) {
        why_not_ = system_reason("mount a file system in memory");
        return;
    }
    has_memory_ = true;
    const std::string image = (folder_ / "memory/now.img").string();
    const Ran made =
        run("truncate -s " + megabytes + "M " + image + " && mkfs.ext4 -q -F " + image);
    if (made.code != 0) {
        why_not_ = "make an ext4 image: " + made.output;
        return;
    }
    try {
        mount_image();
    } catch (const std::exception& error) {
        why_not_ = error.what();
    }
}

CutDisk::~CutDisk() {
    unmount();
    if (has_memory_) {
        ::umount2((folder_ / "memory").c_str(), MNT_DETACH);
    }
}

void CutDisk::mount_image() {
    const std::string options = "loop" + (options_.empty() ? "" : "," + options_);
    const Ran mounted = run("mount -t ext4 -o " + options + " " +
                            (folder_ / "memory/now.img").string() + " " + place().string());
    if (mounted.code != 0) {
        throw std::runtime_error("mount an image through a loop device: " + mounted.output);
    }
    is_mounted_ = true;
}

void CutDisk::unmount() {
    if (is_mounted_ && ::umount2(place().c_str(), 0) != 0) {
        ::umount2(place().c_str(), MNT_DETACH);
    }
    is_mounted_ = false;
}

bool CutDisk::cut() {
    const fs::path now = folder_ / "memory/now.img";
    const fs::path kept = folder_ / "memory/kept.img";
    fs::copy_file(now, kept, fs::copy_options::overwrite_existing);
    for (int count = 0; count < kCopies; ++count) {
        if (bring_up_to_date(now, kept)) {
            return true;
        }
    }
    return false;
}

void CutDisk::power_on() {
    unmount();
    fs::rename(folder_ / "memory/kept.img", folder_ / "memory/now.img");
    mount_image();
}

}  // namespace daybook::test
