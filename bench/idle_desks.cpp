// The real daemon with one desk and with a thousand that have nothing to do.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <thread>

#include "bench/turn_parts.hpp"
#include "host/cli/client.hpp"
#include "host/os/process.hpp"
#include "host/surface/places.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::bench {
namespace {

constexpr std::chrono::seconds kPatience{120};

std::string config_of(int desks) {
    std::string text = "[model.clerk]\nplugin = \"clerk\"\n";
    for (int i = 1; i <= desks; ++i) {
        text += "[desk.d" + std::to_string(i) +
                "]\ncalendar = \"nse\"\nmodels = [\"clerk\"]\nplugins = [\"memory\"]\n";
    }
    return text;
}

struct Seen {
    double ready = 0, resident = 0, descriptors = 0, threads = 0, answered = 0;
};

double count_of(const std::string& folder) {
    double count = 0;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator();
         entry.increment(error)) {
        ++count;
    }
    return count;
}

double resident_of(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        double kib = 0;
        if (words >> name >> kib && name == "VmRSS:") {
            return kib;
        }
    }
    return 0;
}

Result<cli::Client> connect(const Places& places, const ChildProcess& daemon) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
        if (auto client = cli::Client::connect(places)) {
            return client;
        }
        pollfd ended = {daemon.pidfd(), POLLIN, 0};
        if (::poll(&ended, 1, 2) > 0) {
            return Error(Errc::unavailable, "daybookd ended before it served");
        }
    }
    return Error(Errc::deadline, "daybookd does not serve");
}

/// One life of the daemon on a home: started, asked, ended.
Result<Seen> run_once(const std::filesystem::path& home) {
    PlaceOptions options;
    options.home = home;
    auto places = find_places(options, Surroundings::of_process());
    if (!places) {
        return places.error();
    }
    SpawnRequest request;
    request.program = DAYBOOK_BENCH_DAEMON;
    request.arguments = {"--home", home.string()};
    request.environment = {"PATH=/usr/bin:/bin", "TZ=UTC"};
    Seen seen;
    const Stopwatch watch;
    auto daemon = ChildProcess::spawn(request);
    if (!daemon) {
        return daemon.error();
    }
    auto client = connect(*places, *daemon);
    if (!client) {
        return client.error();
    }
    auto version = client->call("version", Json::object());
    if (!version) {
        return version.error();
    }
    seen.ready = watch.milliseconds();
    const std::string proc = "/proc/" + std::to_string(daemon->pid());
    seen.resident = resident_of(daemon->pid());
    seen.descriptors = count_of(proc + "/fd");
    seen.threads = count_of(proc + "/task");
    const Stopwatch asked;
    auto said = client->call("say", Json::object().set("desk", "d1").set("text", "hello"));
    if (!said) {
        return said.error();
    }
    seen.answered = asked.milliseconds();
    ::kill(daemon->pid(), SIGTERM);
    pollfd ended = {daemon->pidfd(), POLLIN, 0};
    if (::poll(&ended, 1, 60'000) <= 0) {
        return Error(Errc::deadline, "daybookd does not end");
    }
    static_cast<void>(daemon->try_wait());
    return seen;
}

}  // namespace

Result<> measure_idle_desks(const Options& options, Report& report) {
    const int many = options.smoke ? 40 : 1000;
    Samples ready, resident, descriptors, threads, answered, one_resident, one_ready;
    test::TempFolder one;
    test::TempFolder all;
    std::ofstream(one / "daybook.toml") << config_of(1);
    std::ofstream(all / "daybook.toml") << config_of(many);
    Report::progress("idle desks: the first start makes " + std::to_string(many) + " desks");
    auto first = run_once(all.path());
    auto single = first ? run_once(one.path()) : Result<Seen>(first.error());
    if (!single) {
        return single.error();
    }
    const int rounds = options.smoke ? 2 : 5;
    for (int round = 0; round < rounds; ++round) {
        auto small = run_once(one.path());
        auto big = small ? run_once(all.path()) : Result<Seen>(small.error());
        if (!big) {
            return big.error();
        }
        one_ready.push_back(small->ready);
        one_resident.push_back(small->resident);
        ready.push_back(big->ready);
        resident.push_back(big->resident);
        descriptors.push_back(big->descriptors);
        threads.push_back(big->threads);
        answered.push_back(big->answered);
    }
    const std::string name = "idle/" + std::to_string(many);
    report.row(name + "/first_ready", "ms", first->ready);
    report.row("idle/1/ready", "ms", one_ready);
    report.row(name + "/ready", "ms", ready, &one_ready);
    report.row("idle/1/rss", "KiB", one_resident);
    report.row(name + "/rss", "KiB", resident, &one_resident);
    report.row(name + "/per_desk",
               "KiB",
               (figures_of(resident).median - figures_of(one_resident).median) / (many - 1));
    report.row(name + "/descriptors", "count", descriptors);
    report.row(name + "/threads", "count", threads);
    report.row(name + "/first_answer", "ms", answered);
    report.note(
        "ready: until a request is answered; first_answer: a desk woken, its model started.");
    return {};
}

}  // namespace daybook::bench
