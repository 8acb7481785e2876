#include "host/plugin/desk_inbox.hpp"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/catch.hpp"

using daybook::DeskInbox;
using namespace std::chrono_literals;

namespace {
auto soon() {
    return std::chrono::steady_clock::now() + 20s;
}
}  // namespace

TEST_CASE("tasks run in the order they came, until the condition holds", "[plugin]") {
    DeskInbox inbox;
    std::vector<int> seen;
    for (int i = 0; i < 5; ++i) {
        inbox.post([&seen, i] { seen.push_back(i); });
    }
    CHECK(inbox.serve_until([&] { return seen.size() == 3; }, soon()));
    CHECK(seen == std::vector<int>{0, 1, 2});
    CHECK(inbox.backlog() == 2);
}

TEST_CASE("a condition that holds already runs nothing", "[plugin]") {
    DeskInbox inbox;
    bool ran = false;
    inbox.post([&] { ran = true; });
    CHECK(inbox.serve_until([] { return true; }, soon()));
    CHECK_FALSE(ran);
}

TEST_CASE("waiting ends at the deadline, also under a steady stream of tasks", "[plugin]") {
    DeskInbox inbox;
    CHECK_FALSE(inbox.serve_until([] { return false; }, std::chrono::steady_clock::now() + 10ms));
    std::function<void()> again = [&] { inbox.post(again); };
    inbox.post(again);
    CHECK_FALSE(inbox.serve_until([] { return false; }, std::chrono::steady_clock::now() + 50ms));
}

TEST_CASE("a task may wait for another one itself", "[plugin]") {
    DeskInbox inbox;
    bool inner = false;
    bool outer = false;
    inbox.post([&] {
        inbox.post([&] { inner = true; });
        CHECK(inbox.serve_until([&] { return inner; }, soon()));
        outer = true;
    });
    CHECK(inbox.serve_until([&] { return outer; }, soon()));
    CHECK(inner);
}

TEST_CASE("a task from another thread wakes the desk's", "[plugin]") {
    DeskInbox inbox;
    int count = 0;
    std::thread other([&] {
        for (int i = 0; i < 1000; ++i) {
            inbox.post([&] { ++count; });
        }
    });
    CHECK(inbox.serve_until([&] { return count == 1000; }, soon()));
    other.join();
}

namespace {
/// A pipe with something in it, as a channel would have.
struct Pipe {
    Pipe() {
        int ends[2] = {-1, -1};
        REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
        out = daybook::UniqueFd(ends[0]);
        in = daybook::UniqueFd(ends[1]);
    }
    void put() const { REQUIRE(::write(in.get(), "x", 1) == 1); }
    [[nodiscard]] bool take() const {
        char byte = 0;
        return ::read(out.get(), &byte, 1) == 1;
    }
    daybook::UniqueFd out, in;
};
}  // namespace

TEST_CASE("a source is read when it is readable, and by nobody once it is removed", "[plugin]") {
    DeskInbox inbox;
    const Pipe pipe;
    int reads = 0;
    REQUIRE(inbox.add_source(pipe.out.get(), [&] {
        reads += pipe.take() ? 1 : 0;
        return true;
    }));
    std::thread writer([&] { pipe.put(); });
    CHECK(inbox.serve_until([&] { return reads == 1; }, soon()));
    writer.join();
    inbox.remove_source(pipe.out.get());
    pipe.put();
    CHECK_FALSE(inbox.serve_until([] { return false; }, std::chrono::steady_clock::now() + 10ms));
    CHECK(reads == 1);
}

TEST_CASE("tasks go before a source, which may have been handed on before it", "[plugin]") {
    DeskInbox inbox;
    const Pipe pipe;
    std::vector<std::string> seen;
    REQUIRE(inbox.add_source(pipe.out.get(), [&] {
        seen.emplace_back("source");
        return false;
    }));
    pipe.put();
    inbox.post([&] { seen.emplace_back("first"); });
    inbox.post([&] { seen.emplace_back("second"); });
    CHECK(inbox.serve_until([&] { return seen.size() == 3; }, soon()));
    CHECK(seen == std::vector<std::string>{"first", "second", "source"});
    CHECK_FALSE(inbox.serve_until([] { return false; }, std::chrono::steady_clock::now() + 10ms));
    CHECK(seen.size() == 3);  // it asked to be watched no more
}

TEST_CASE("a task wakes a desk's thread that waits for a source too", "[plugin]") {
    DeskInbox inbox;
    const Pipe pipe;
    REQUIRE(inbox.add_source(pipe.out.get(), [] { return true; }));
    for (int i = 0; i < 200; ++i) {
        std::atomic<bool> ran = false;
        std::thread poster([&] { inbox.post([&] { ran = true; }); });
        CHECK(inbox.serve_until([&] { return ran.load(); }, soon()));
        poster.join();
    }
}

TEST_CASE("a source that always has more does not hold the deadline up", "[plugin]") {
    DeskInbox inbox;
    const Pipe pipe;
    pipe.put();
    REQUIRE(inbox.add_source(pipe.out.get(), [] { return true; }));
    CHECK_FALSE(inbox.serve_until([] { return false; }, std::chrono::steady_clock::now() + 50ms));
}
