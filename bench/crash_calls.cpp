// What a plugin that crashes at every seventh call costs the others: calls of another desk's plugin
// while nothing else runs, and the same while the crasher is called as fast as it can be, its
// breaker off. In one run, so that the ratio stands whatever the machine is at.
//
//     build/release/bench/crash_calls [--calls 10000]
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "host/plugin/call.hpp"
#include "host/plugin/registry.hpp"
#include "host/plugin/runner_process.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/temp_folder.hpp"

namespace {

using namespace daybook;

constexpr int kIdleCalls = 5000;

class NoVerbs final : public VerbServer {
  public:
    Result<std::string> serve(Leash& /*leash*/,
                              std::string_view /*verb*/,
                              const std::vector<std::string>& /*arguments*/,
                              CallOutcome& /*outcome*/) override {
        return Error(Errc::refused, "no verbs here");
    }
};

/// A desk's plugin: its own inbox and runner, called from one thread.
class Side {
  public:
    Side(IoLoop& loop, const PluginEntry& plugin, RunnerSettings settings)
        : plugin_(plugin), runner_(loop, inbox_, plugin, std::move(settings), {}) {}

    bool call(const std::string& tool) {
        Leash leash;
        leash.desk = "main";
        leash.plugin = plugin_.config.name;
        leash.tool = tool;
        leash.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        CallRequest request;
        request.name = tool;
        NoVerbs verbs;
        return static_cast<bool>(
            run_call(runner_, inbox_, leash, request, verbs, {}, std::chrono::seconds(2)).result);
    }
    [[nodiscard]] RunnerStatus status() const { return runner_.status(); }

  private:
    DeskInbox inbox_;
    const PluginEntry& plugin_;
    RunnerProcess runner_;
};

/// Microseconds of calls until `stop` or so many are done.
std::vector<double> timed_calls(Side& side, int most, const std::atomic<bool>& stop) {
    std::vector<double> times;
    for (int i = 0; i < most && !stop; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        if (!side.call("echo")) {
            std::printf("a call of the other plugin failed\n");
            std::exit(1);
        }
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begun;
        times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    return times;
}

double at(const std::vector<double>& sorted, double part) {
    return sorted.empty()
               ? 0
               : sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

long resident_kilobytes() {
    std::ifstream statm("/proc/self/statm");
    long pages = 0;
    statm >> pages >> pages;
    return pages * ::sysconf(_SC_PAGESIZE) / 1024;
}

long open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

RunnerSettings settings_in(const test::TempFolder& folder) {
    RunnerSettings settings;
    settings.program = DAYBOOK_BENCH_RUNNER;
    settings.desk_dir = folder / "desk";
    settings.desk = "main";
    settings.zone = "UTC";
    settings.probe_file = folder / "probe";
    settings.idle = std::chrono::hours(1);
    settings.breaker = false;
    settings.restart.first_delay = std::chrono::milliseconds(0);
    return settings;
}

int measure(int calls) {
    const test::TempFolder folder;
    std::filesystem::create_directories(folder / "desk");
    std::filesystem::create_directories(folder / "state");
    folder.write("probe", "x");
    LinuxOs os;
    Config config;
    for (const char* name : {"echo", "swap_seventh"}) {
        config.plugins[name].name = name;
    }
    auto registry = Registry::load(
        os, {{DAYBOOK_BENCH_FIXTURES}, folder / "state", {DAYBOOK_BENCH_FIXTURES}}, config);
    if (!registry || !registry->find("echo")->refused.empty() ||
        !registry->find("swap_seventh")->refused.empty()) {
        std::printf("the fixtures do not load: build daybook_fixtures\n");
        return 1;
    }
    test::IoThread io;
    Side other(io.loop, *registry->find("echo"), settings_in(folder));
    Side crasher(io.loop, *registry->find("swap_seventh"), settings_in(folder));
    const std::atomic<bool> never{false};
    static_cast<void>(timed_calls(other, 200, never));
    static_cast<void>(crasher.call("which"));
    const auto idle = timed_calls(other, std::min(kIdleCalls, calls), never);
    const long memory = resident_kilobytes();
    const long descriptors = open_descriptors();
    std::atomic<bool> over{false};
    int failed = 0;
    const auto begun = std::chrono::steady_clock::now();
    std::thread storm([&] {
        for (int i = 0; i < calls; ++i) {
            failed += crasher.call("which") ? 0 : 1;
        }
        over = true;
    });
    const auto busy = timed_calls(other, 100'000'000, over);
    storm.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("crasher: %d calls in %.1f s, %d failed, %llu crashes, %llu restarts\n",
                calls,
                took.count(),
                failed,
                static_cast<unsigned long long>(crasher.status().crashes),
                static_cast<unsigned long long>(crasher.status().restarts));
    std::printf("other, idle:   %zu calls, p50 %.1f us, p99 %.1f us\n",
                idle.size(),
                at(idle, 0.5),
                at(idle, 0.99));
    std::printf("other, storm:  %zu calls, p50 %.1f us, p99 %.1f us, p50 ratio %.2f\n",
                busy.size(),
                at(busy, 0.5),
                at(busy, 0.99),
                at(busy, 0.5) / at(idle, 0.5));
    std::printf("host: memory %+ld KiB, descriptors %+ld\n",
                resident_kilobytes() - memory,
                open_descriptors() - descriptors);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        int calls = 10000;
        for (int i = 1; i + 1 < argc; ++i) {
            if (std::strcmp(argv[i], "--calls") == 0) {
                calls = std::max(7, std::atoi(argv[i + 1]));
            }
        }
        return measure(calls);
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "%s\n", fault.what());
        return 1;
    }
}
