// Taking more than its share, breaking the channel, not ending.
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

constexpr std::size_t kMiB = std::size_t{1024} * 1024;
constexpr int kManyChildren = 40;
constexpr int kManyThreads = 2000;
constexpr int kManyDescriptors = 5000;

void* wait_for_ever(void*) {
    for (;;) {
        ::pause();
    }
}

Outcome many_children(const Target&) {
    for (int i = 0; i < kManyChildren; ++i) {
        const Outcome one = tried_child(::syscall(SYS_clone, 17UL, 0UL, 0UL, 0UL, 0UL));
        if (one.error != 0) {
            return one;
        }
    }
    return {};
}

Outcome many_threads(const Target&) {
    for (int i = 0; i < kManyThreads; ++i) {
        pthread_t thread{};
        if (const int error = ::pthread_create(&thread, nullptr, &wait_for_ever, nullptr);
            error != 0) {
            return {error, {}};
        }
    }
    return {};
}

Outcome map_and_touch(std::size_t bytes, int sharing, std::size_t step) {
    auto* const at = static_cast<char*>(
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED) {
        return {errno, {}};
    }
    for (std::size_t i = 0; i < bytes; i += step) {
        at[i] = 'x';
    }
    return {};
}

Outcome many_descriptors(const Target&) {
    for (int i = 0; i < kManyDescriptors; ++i) {
        if (::dup(0) < 0) {
            return {errno, {}};
        }
    }
    return {};
}

Outcome loop_for_ever(const Target&) {
    for (std::atomic<unsigned> turns{0};; ++turns) {
    }
}

Outcome send_frame(std::size_t bytes, char filler) {
    const std::vector<char> frame(bytes, filler);
    return tried(::send(3, frame.data(), frame.size(), 0));
}

Outcome ignore_the_end(const Target&) {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    wait_for_ever(nullptr);
    return {};
}

Outcome close_channel(const Target&) {
    ::close(3);
    wait_for_ever(nullptr);
    return {};
}

Outcome crash(const Target&) {
    ::raise(SIGSEGV);
    return {};
}

Outcome daemonise(const Target&) {
    const long child = ::syscall(SYS_clone, 17UL, 0UL, 0UL, 0UL, 0UL);
    if (child == 0) {
        ::setsid();
    }
    return tried_child(child);
}

constexpr Attempt kAttempts[] = {
    {"d01_fork_bomb", "start 40 processes", &many_children},
    {"d02_thread_bomb", "start 2000 threads", &many_threads},
    {"d03_memory_bomb",
     "take 600 MiB of memory",
     [](const Target&) { return map_and_touch(600 * kMiB, MAP_PRIVATE, kMiB); }},
    {"d04_shared_memory",
     "take 600 MiB of shared memory",
     [](const Target&) { return map_and_touch(600 * kMiB, MAP_SHARED, kMiB); }},
    {"d05_descriptors", "hold 5000 descriptors", &many_descriptors},
    {"d06_infinite_loop", "compute for ever", &loop_for_ever},
    {"d07_oversized_frame",
     "send the host a frame of 150,000 bytes",
     [](const Target&) { return send_frame(150000, 'x'); }},
    {"d08_garbage_frame",
     "send the host a frame of nonsense",
     [](const Target&) { return send_frame(40, '\x7f'); }},
    {"d09_close_channel", "close the channel and live on", &close_channel},
    {"d10_ignore_sigterm", "ignore SIGTERM and wait for ever", &ignore_the_end},
    {"d11_crash", "crash", &crash},
    {"d12_daemonise", "leave a process behind", &daemonise},
    {"x90_more_shared_memory",
     "take 1.5 GiB of shared memory",
     [](const Target&) { return map_and_touch(1536 * kMiB, MAP_SHARED, 256 * kMiB); }},
    {"x91_locked_memory",
     "lock memory",
     [](const Target&) {
         const std::array<char, 64> bytes{};
         return tried(::syscall(SYS_mlock, bytes.data(), bytes.size()));
     }},
    {"x92_empty_frame",
     "send the host an empty frame",
     [](const Target&) { return send_frame(1, 0); }},
    {"x93_file_size",
     "write past the file size limit into a descriptor of the host's",
     [](const Target& t) { return tried(::ftruncate(t.fd, 1 << 20)); }},
};

}  // namespace

std::span<const Attempt> exhaustion_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
