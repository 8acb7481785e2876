#include "host/os/io_loop.hpp"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "host/os/unique_fd.hpp"
#include "tests/catch.hpp"

using namespace daybook;
using namespace std::chrono_literals;

namespace {

/// A loop on a thread of its own, as in the daemon.
struct RunningLoop {
    IoLoop loop;
    std::thread thread{[this] { loop.run(); }};
    RunningLoop() = default;
    ~RunningLoop() {
        loop.stop();
        thread.join();
    }
    RunningLoop(const RunningLoop&) = delete;
    RunningLoop& operator=(const RunningLoop&) = delete;
    RunningLoop(RunningLoop&&) = delete;
    RunningLoop& operator=(RunningLoop&&) = delete;

    /// Until everything posted so far has run.
    void settle() {
        Flag done;
        loop.post([&] { done.raise(); });
        REQUIRE(done.wait());
    }
    struct Flag {
        std::mutex mutex;  // guards raised
        std::condition_variable changed;
        int raised = 0;
        void raise() {
            const std::lock_guard guard(mutex);
            ++raised;
            changed.notify_all();
        }
        bool wait(int count = 1) {
            std::unique_lock lock(mutex);
            return changed.wait_for(lock, 10s, [&] { return raised >= count; });
        }
    };
};
using Flag = RunningLoop::Flag;

struct Pair {
    UniqueFd a;
    UniqueFd b;
    Pair() {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
        a.reset(ends[0]);
        b.reset(ends[1]);
    }
};

}  // namespace

TEST_CASE("posted tasks run in order on the loop's thread", "[os]") {
    RunningLoop running;
    std::vector<int> seen;
    std::atomic<bool> on_thread{false};
    for (int i = 0; i < 100; ++i) {
        running.loop.post([&, i] { seen.push_back(i); });
    }
    running.loop.post([&] { on_thread = running.loop.on_loop_thread(); });
    running.settle();
    REQUIRE(seen.size() == 100);
    CHECK((seen.front() == 0 && seen.back() == 99));
    CHECK(on_thread);
    CHECK(!running.loop.on_loop_thread());
}

TEST_CASE("a readable descriptor calls back each time, and again when it is not drained", "[os]") {
    RunningLoop running;
    Pair pair;
    Flag flag;
    std::string got;
    const auto watch = running.loop.watch(pair.a.get(), IoLoop::Ready::read, [&] {
        char byte = 0;  // one byte a call: the rest must call back again
        if (read(pair.a.get(), &byte, 1) == 1) {
            got += byte;
            flag.raise();
        }
    });
    REQUIRE(write(pair.b.get(), "abc", 3) == 3);
    REQUIRE(flag.wait(3));
    REQUIRE(write(pair.b.get(), "d", 1) == 1);
    REQUIRE(flag.wait(4));
    running.settle();
    CHECK(got == "abcd");
}

TEST_CASE("one descriptor may be watched for reading and for writing at once", "[os]") {
    RunningLoop running;
    Pair pair;
    Flag readable;
    Flag writable;
    const auto reads = running.loop.watch(pair.a.get(), IoLoop::Ready::read, [&] {
        char byte = 0;
        if (read(pair.a.get(), &byte, 1) == 1) {
            readable.raise();
        }
    });
    auto writes = running.loop.watch(pair.a.get(), IoLoop::Ready::write, [&] { writable.raise(); });
    REQUIRE(writable.wait());
    writes.reset();
    REQUIRE(write(pair.b.get(), "x", 1) == 1);
    CHECK(readable.wait());
}

TEST_CASE("after a watch is gone its callback never runs, whoever lets it go", "[os]") {
    RunningLoop running;
    for (int round = 0; round < 200; ++round) {
        Pair pair;
        auto counter = std::make_unique<std::atomic<int>>(0);
        auto watch =
            running.loop.watch(pair.a.get(), IoLoop::Ready::read, [&c = *counter] { ++c; });
        REQUIRE(write(pair.b.get(), "x", 1) == 1);
        watch.reset();  // from this thread, while the loop may be in the callback
        const int seen = *counter;
        counter.reset();  // a late callback would touch freed memory (found under the address
                          // sanitizer)
        CHECK(seen >= 0);
    }
    running.settle();
}

TEST_CASE("a watch may let itself go inside its own callback", "[os]") {
    RunningLoop running;
    Pair pair;
    Flag flag;
    std::unique_ptr<Watch> watch;
    running.loop.post([&] {
        watch = running.loop.watch(pair.a.get(), IoLoop::Ready::read, [&] {
            watch.reset();
            flag.raise();
        });
    });
    running.settle();
    REQUIRE(write(pair.b.get(), "xyz", 3) == 3);
    REQUIRE(flag.wait());
    running.settle();
    CHECK(flag.raised == 1);
}

TEST_CASE("the other end sees a close as soon as watch and descriptor are gone", "[os]") {
    RunningLoop running;
    Pair pair;
    auto watch = running.loop.watch(pair.a.get(), IoLoop::Ready::read, [] {});
    watch.reset();
    pair.a.reset();
    char byte = 0;
    CHECK(read(pair.b.get(), &byte, 1) == 0);
}

TEST_CASE("a descriptor that cannot be watched calls back once", "[os]") {
    RunningLoop running;
    Flag flag;
    const auto watch = running.loop.watch(-1, IoLoop::Ready::read, [&] { flag.raise(); });
    CHECK(flag.wait());
}

TEST_CASE("a timer calls back once, and not at all when let go before", "[os]") {
    RunningLoop running;
    Flag flag;
    Flag never;
    auto later = running.loop.after(1h, [&] { never.raise(); });
    const auto soon = running.loop.after(1ms, [&] { flag.raise(); });
    REQUIRE(flag.wait());
    later.reset();
    running.settle();
    CHECK(flag.raised == 1);
    CHECK(never.raised == 0);
}

TEST_CASE("signals call back until the watch goes", "[os]") {
    RunningLoop running;
    Flag flag;
    int seen = 0;
    {
        const auto watch = running.loop.on_signals({SIGUSR1, SIGUSR2}, [&](int number) {
            seen = number;
            flag.raise();
        });
        REQUIRE(raise(SIGUSR1) == 0);
        REQUIRE(flag.wait(1));
        CHECK(seen == SIGUSR1);
        REQUIRE(raise(SIGUSR2) == 0);
        REQUIRE(flag.wait(2));
        CHECK(seen == SIGUSR2);
    }
    running.settle();
}

TEST_CASE("a loop that is stopped before it runs returns at once", "[os]") {
    IoLoop loop;
    loop.stop();
    loop.run();
    SUCCEED();
}
