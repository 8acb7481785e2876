#include "host/plugin/desk_inbox.hpp"

#include <atomic>
#include <chrono>
#include <thread>
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
