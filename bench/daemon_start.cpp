// From the start of the real daemon to its first answer over the control socket: a fresh home, and
// one of ten desks with a year behind them.
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "bench/home_history.hpp"
#include "bench/parts.hpp"
#include "host/cli/client.hpp"
#include "host/os/process.hpp"
#include "host/surface/places.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::bench {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr const char* kSaid = "Remember: the gap was filled before noon, half the size was enough";

/// Where the daemon says that it is ready, as it would to systemd.
class ReadySocket {
  public:
    static Result<ReadySocket> open(const std::filesystem::path& path) {
        ReadySocket ready;
        ready.path_ = path.string();
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        if (ready.path_.size() >= sizeof address.sun_path) {
            return Error(Errc::invalid, "the temporary folder's path is too long for a socket");
        }
        std::memcpy(address.sun_path, ready.path_.data(), ready.path_.size());
        ready.socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (::bind(ready.socket_.get(),
                   reinterpret_cast<const sockaddr*>(&address),
                   sizeof address) != 0) {
            return Error(Errc::io, "bind " + ready.path_);
        }
        return ready;
    }
    [[nodiscard]] std::string variable() const { return "NOTIFY_SOCKET=" + path_; }

    /// Errors: unavailable (the daemon ended), deadline.
    Result<> wait(const ChildProcess& daemon) {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        while (std::chrono::steady_clock::now() < end) {
            pollfd fds[2] = {{socket_.get(), POLLIN, 0}, {daemon.pidfd(), POLLIN, 0}};
            ::poll(fds, 2, 1000);
            if (fds[0].revents != 0) {
                char text[4096];
                const ssize_t got = ::recv(socket_.get(), text, sizeof text, 0);
                if (got > 0 &&
                    std::string_view(text, static_cast<std::size_t>(got)).find("READY=1") !=
                        std::string_view::npos) {
                    return {};
                }
            } else if (fds[1].revents != 0) {
                return Error(Errc::unavailable, "daybookd ended before it was ready");
            }
        }
        return Error(Errc::deadline, "daybookd is not ready after 30 s");
    }

  private:
    UniqueFd socket_;
    std::string path_;
};

/// What one start gave.
struct Start {
    double ready = 0, answered = 0, next_answered = 0;  ///< ms; the last from its own sending
    double resident = 0;                                ///< KiB, after the first answer
};

std::string printed_by(const ChildProcess& daemon) {
    std::string text(4096, '\0');
    const ssize_t got = ::read(daemon.output(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

Result<double> resident_of(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        double kib = 0;
        if (words >> name >> kib && name == "VmRSS:") {
            return kib;
        }
    }
    return Error(Errc::io, "read the daemon's memory from /proc");
}

Result<> say(cli::Client& client) {
    auto said = client.call("say", Json::object().set("desk", "main").set("text", kSaid));
    if (!said) {
        return said.error().during("say");
    }
    return (*said)["answer"].as_string().empty()
               ? Result<>(Error(Errc::no_answer, "say: no answer: " + said->dump()))
               : Result<>();
}

/// SIGTERM, and waits until it has ended.
Result<> stop(ChildProcess& daemon) {
    if (::kill(daemon.pid(), SIGTERM) != 0) {
        return Error(Errc::io, "end daybookd");
    }
    pollfd ended = {daemon.pidfd(), POLLIN, 0};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
        if (::poll(&ended, 1, 1000) > 0) {
            const auto state = daemon.try_wait();
            return state && state->code == 0
                       ? Result<>()
                       : Result<>(Error(Errc::io, "daybookd did not end well"));
        }
    }
    return Error(Errc::deadline, "daybookd does not end");
}

Result<Start> start_once(const std::filesystem::path& home) {
    std::error_code ignored;
    const std::filesystem::path notify = home / "notify";
    std::filesystem::remove(notify, ignored);
    auto ready = ReadySocket::open(notify);
    PlaceOptions options;
    options.home = home;
    auto places = find_places(options, Surroundings::of_process());
    if (!ready || !places) {
        return !ready ? ready.error() : places.error();
    }
    SpawnRequest request;
    request.program = DAYBOOK_BENCH_DAEMON;
    request.arguments = {"--home", home.string(), "--foreground"};
    request.environment = {"PATH=/usr/bin:/bin", "TZ=UTC", ready->variable()};
    Start start;
    const Stopwatch watch;
    auto daemon = ChildProcess::spawn(request);
    if (!daemon) {
        return daemon.error();
    }
    if (auto came = ready->wait(*daemon); !came) {
        return came.error().during(printed_by(*daemon));
    }
    start.ready = watch.milliseconds();
    auto client = cli::Client::connect(*places);
    if (!client) {
        return client.error();
    }
    if (auto said = say(*client); !said) {
        return said.error();
    }
    start.answered = watch.milliseconds();
    auto resident = resident_of(daemon->pid());
    if (!resident) {
        return resident.error();
    }
    start.resident = *resident;
    const Stopwatch next;
    if (auto said = say(*client); !said) {
        return said.error();
    }
    start.next_answered = next.milliseconds();
    auto stopped = stop(*daemon);
    return stopped ? Result<Start>(start) : Result<Start>(stopped.error());
}

/// Collects the starts of one kind of home.
struct Starts {
    Samples ready, answered, next_answered, resident;

    Result<double> add(const std::filesystem::path& home) {
        auto start = start_once(home);
        if (!start) {
            return start.error();
        }
        ready.push_back(start->ready);
        answered.push_back(start->answered);
        next_answered.push_back(start->next_answered);
        resident.push_back(start->resident);
        return start->answered;
    }
    void print(const std::string& name, Report& report) {
        for (Samples* samples : {&ready, &answered, &next_answered, &resident}) {
            samples->erase(samples->begin());  // the warm-up's
        }
        report.row(name + "/ready", "ms", ready);
        report.row(name + "/answered", "ms", answered);
        report.row(name + "/next_answered", "ms", next_answered);
        report.row(name + "/rss", "KiB", resident);
    }
};

}  // namespace

Result<> measure_daemon(const Options& options, Report& report) {
    if (!std::filesystem::exists(DAYBOOK_BENCH_DAEMON)) {
        return Error(Errc::not_found, "daybookd is not built");
    }
    Report::progress("daemon: making a home with a past");
    const PastSize past = options.smoke ? PastSize{2, 5, 4} : PastSize{10, 250, 10};
    test::TempFolder used;
    if (auto made = make_home(used.path(), past); !made) {
        return made;
    }
    const std::string used_name =
        "daemon/" + std::to_string(past.desks) + "x" + std::to_string(past.days);
    Report::progress("daemon: starts");
    Starts fresh_starts;
    Starts used_starts;
    std::vector<Contender> contenders;
    contenders.push_back({"a fresh home",
                          [&]() -> Result<double> {
                              test::TempFolder fresh;
                              auto made = make_home(fresh.path(), PastSize{});
                              return made ? fresh_starts.add(fresh.path())
                                          : Result<double>(made.error());
                          },
                          {}});
    contenders.push_back({"a home with a past", [&] { return used_starts.add(used.path()); }, {}});
    const UniqueFd disk(::open(used.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (auto done = interleave(contenders, options.rounds, [&] { ::syncfs(disk.get()); }); !done) {
        return done;
    }
    fresh_starts.print("daemon/fresh", report);
    used_starts.print(used_name, report);
    report.note(
        "answered: from the start to the answer to a message that makes a note (two runners");
    report.note(
        "started for it, a checkpoint and a write in it); next_answered: the same again, warm.");
    return {};
}

}  // namespace daybook::bench
