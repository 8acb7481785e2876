// How long a runner takes from its start until it is open for calls, all walls proved, beside the
// start of a program that does nothing; and what twenty of them hold in memory.
#include <cerrno>
#include <fstream>
#include <memory>
#include <poll.h>
#include <sstream>
#include <vector>

#include "bench/parts.hpp"
#include "bench/plugin_bench.hpp"
#include "host/os/process.hpp"

namespace daybook::bench {
namespace {

constexpr std::chrono::seconds kPatience{20};

/// Starts a program that ends at once, and waits for it.
Result<double> start_nothing() {
    SpawnRequest request;
    request.program = "/bin/true";
    const Stopwatch watch;
    auto child = ChildProcess::spawn(request);
    if (!child) {
        return child.error();
    }
    pollfd ended = {child->pidfd(), POLLIN, 0};
    while (::poll(&ended, 1, 10000) < 0 && errno == EINTR) {
    }
    return child->try_wait() ? Result<double>(watch.milliseconds())
                             : Result<double>(Error(Errc::deadline, "/bin/true does not end"));
}

/// KiB of the line "Pss:" or "Rss:".
Result<double> memory_of(int pid, const std::string& field) {
    const std::string file = "/proc/" + std::to_string(pid) + "/smaps_rollup";
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        double kib = 0;
        if (words >> name >> kib && name == field) {
            return kib;
        }
    }
    return Error(Errc::unavailable, "read " + file + ": a runner shows it to root only");
}

void print_memory(const std::vector<std::unique_ptr<RunnerProcess>>& runners, Report& report) {
    Samples proportional;
    Samples resident;
    for (const auto& runner : runners) {
        const int pid = runner->status().pid;
        const auto pss = memory_of(pid, "Pss:");
        const auto rss = memory_of(pid, "Rss:");
        if (!pss || !rss) {
            Report::progress((!pss ? pss : rss).error().message());
            return;
        }
        proportional.push_back(*pss);
        resident.push_back(*rss);
    }
    report.row("runner/pss_of_each", "KiB", proportional);
    report.row("runner/rss_of_each", "KiB", resident);
}

}  // namespace

Result<> measure_runners(const Options& options, Report& report) {
    Report::progress("runner: starts");
    auto bench = PluginBench::open();
    if (!bench) {
        return bench.error();
    }
    const int runners_wanted = options.smoke ? options.rounds : 20;
    std::vector<std::unique_ptr<RunnerProcess>> runners;
    Samples ready;
    std::vector<Contender> contenders;
    contenders.push_back({"start of nothing", start_nothing, {}});
    contenders.push_back({"start of a runner",
                          [&]() -> Result<double> {
                              auto runner = (*bench)->make_runner();
                              const Stopwatch watch;
                              auto opened = runner->ensure_ready(std::chrono::steady_clock::now() +
                                                                 kPatience);
                              const double took = watch.milliseconds();
                              if (!opened) {
                                  return opened.error();
                              }
                              ready.push_back(runner->status().start_milliseconds);
                              runners.push_back(std::move(runner));
                              return took;
                          },
                          {}});
    // They stay until all are there: twenty live at once, with the one of the warm-up left out.
    if (auto done = interleave(contenders, runners_wanted, [] {}); !done) {
        return done;
    }
    ready.erase(ready.begin());
    runners.erase(runners.begin());
    report.row("runner/nothing", "ms", contenders[0].samples);
    report.row("runner/opened", "ms", contenders[1].samples, &contenders[0].samples);
    report.row("runner/ready", "ms", ready, &contenders[0].samples);
    print_memory(runners, report);
    report.note(
        "opened: from ensure_ready() to a runner open for calls; ready: from its start to its");
    report.note("ready frame (walls proved, plugin loaded); nothing: /bin/true, start to end.");
    return {};
}

}  // namespace daybook::bench
