// Order of a start: places, configuration, state folder with its lock, log, host, socket bound,
// desks opened, socket listening, READY=1. Order of a stop: no new requests, desks drained, open
// requests told, loop ended.
#include "host/surface/daemon.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <daybook/version.h>

#include "host/checkpoint/git_library.hpp"
#include "host/surface/api.hpp"
#include "host/surface/config_file.hpp"
#include "host/surface/control_server.hpp"
#include "host/surface/control_token.hpp"
#include "host/surface/host.hpp"
#include "host/surface/service_notifier.hpp"

namespace daybook {
namespace {

constexpr std::chrono::seconds kTick{30};
constexpr std::chrono::milliseconds kNoGrace{0};
/// How long one desk may take to open before systemd gives the start up: a large journal is read,
/// a cut restore carried on.
constexpr std::chrono::microseconds kToOpenADesk = std::chrono::minutes(2);

Result<std::unique_ptr<Log>> open_log(const DaemonOptions& options,
                                      const Places& places,
                                      const Surroundings& surroundings,
                                      const Config& config) {
    const LogLevel level = log_level_of(config.host.log_level);
    const bool journald = !surroundings.variable("JOURNAL_STREAM").empty();
    if (options.foreground || journald) {
        return Log::to_stderr(level, journald);
    }
    return Log::to_file(places.log, level);
}

/// Leaves the socket's real path where a client looks first.
Result<> note_socket(const Places& places) {
    if (auto made = prepare_socket_folder(places.socket.parent_path()); !made) {
        return made;
    }
    if (places.socket_note.empty()) {
        return {};
    }
    if (auto made = make_private_folders(places.socket_note.parent_path()); !made) {
        return made;
    }
    std::ofstream note(places.socket_note, std::ios::trunc);
    note << places.socket.string() << "\n";
    note.close();
    return note ? Result<>() : Result<>(Error(Errc::io, "write " + places.socket_note.string()));
}

/// Ends the host once, by whoever asks first; a second ask cuts what runs.
class Stopper {
  public:
    Stopper(Host& host, ControlServer& server, ServiceNotifier& notifier)
        : host_(host), server_(server), notifier_(notifier) {}
    ~Stopper() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    Stopper(const Stopper&) = delete;
    Stopper& operator=(const Stopper&) = delete;
    Stopper(Stopper&&) = delete;
    Stopper& operator=(Stopper&&) = delete;

    void ask(const std::string& why) {  // [io]
        if (host_.is_stopping()) {
            host_.log().warn("stopping now: running turns are cut reason=\"" + why + "\"");
            host_.cut_now();
            return;
        }
        host_.note_stopping();
        notifier_.send("STOPPING=1\nSTATUS=stopping");
        host_.log().info("stopping reason=\"" + why + "\"");
        thread_ = std::thread([this, why] { run(why); });
    }

  private:
    void run(const std::string& why) {
        host_.record("host", Json::object().set("what", "stopping").set("reason", why));
        host_.drain(host_.config().host.stop_grace);
        server_.stop(Error(Errc::unavailable,
                           "the host stopped; what it had accepted runs when it starts again"));
        host_.record("host", Json::object().set("what", "stopped"));
        // Behind the answers that the server's stop has put into the loop.
        IoLoop& loop = host_.needs().loop;
        loop.post([&loop] { loop.post([&loop] { loop.post([&loop] { loop.stop(); }); }); });
    }

    Host& host_;
    ControlServer& server_;
    ServiceNotifier& notifier_;
    std::thread thread_;
};

/// What repeats: the desks' clock, the line for systemd, the watchdog. Thread: [io].
class Ticker {
  public:
    Ticker(Host& host, ServiceNotifier& notifier) : host_(host), notifier_(notifier) {}

    void start() {
        tick();
        watch();
    }

  private:
    void tick() {
        look();
        // A wall clock is compared often, since no timer counts while the machine sleeps.
        const auto next = std::min(kTick, host_.config().host.desk_idle);
        tick_timer_ = host_.needs().loop.after(next, [this] { tick(); });
    }
    void look() {
        host_.worker().post([this] {
            if (host_.tick()) {
                look();  // behind the requests that wait
                return;
            }
            notifier_.send("STATUS=" + host_.summary());
        });
    }
    /// Pings only when the worker moved since the last time: a stuck queue is restarted too.
    void watch() {
        if (notifier_.watchdog_interval().count() <= 0) {
            return;
        }
        if (host_.worker().done() != seen_ || host_.is_stopping()) {
            seen_ = host_.worker().done();
            notifier_.send("WATCHDOG=1");
        }
        host_.worker().post([] {});
        watch_timer_ = host_.needs().loop.after(notifier_.watchdog_interval(), [this] { watch(); });
    }

    Host& host_;
    ServiceNotifier& notifier_;
    std::uint64_t seen_ = 0;
    std::unique_ptr<Watch> tick_timer_;
    std::unique_ptr<Watch> watch_timer_;
};

/// As systemd wants it beside RELOADING=1.
std::int64_t monotonic_usec() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// An open desk holds a dozen descriptors, and a thousand desks may be open at once at a day's end.
void raise_descriptor_limit() {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

std::string signal_name(int number) {
    const char* name = ::sigabbrev_np(number);
    return std::string("SIG") + (name == nullptr ? "?" : name);
}

ControlServer::Events server_events(Host& host) {
    ControlServer::Events events;
    events.take = [&host](ControlRequest request, std::shared_ptr<Reply> reply) {
        serve_request(host, std::move(request), reply);
    };
    events.on_wrong_token = [&host](const Peer& peer, std::uint64_t count) {
        host.log().warn("wrong token at the control socket pid=" + std::to_string(peer.pid) +
                        " uid=" + std::to_string(peer.uid) + " times=" + std::to_string(count));
        host.worker().post([&host, peer, count] {
            host.record("control",
                        Json::object()
                            .set("what", "wrong_token")
                            .set("pid", peer.pid)
                            .set("uid", static_cast<std::int64_t>(peer.uid))
                            .set("times", static_cast<std::int64_t>(count)));
        });
    };
    return events;
}

Result<> serve(Host& host, ControlServer& server, ServiceNotifier& notifier) {
    IoLoop& loop = host.needs().loop;
    Stopper stopper(host, server, notifier);
    host.on_stop_requested([&loop, &stopper](const std::string& why) {
        loop.post([&stopper, why] { stopper.ask(why); });
    });
    const auto signals = loop.on_signals({SIGTERM, SIGINT, SIGHUP}, [&](int number) {
        if (number != SIGHUP) {
            stopper.ask(signal_name(number));
        } else {
            notifier.send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_usec()));
            host.reload([&host, &notifier] { notifier.send("READY=1\nSTATUS=" + host.summary()); });
        }
    });
    host.open_desks([&notifier](std::size_t done, std::size_t all) {
        notifier.send("EXTEND_TIMEOUT_USEC=" + std::to_string(kToOpenADesk.count()) +
                      "\nSTATUS=opening desks, " + std::to_string(done) + " of " +
                      std::to_string(all));
    });
    if (auto listening = server.listen(); !listening) {
        return listening;
    }
    Ticker ticker(host, notifier);
    loop.post([&ticker] { ticker.start(); });
    notifier.send("READY=1\nMAINPID=" + std::to_string(::getpid()) + "\nSTATUS=" + host.summary());
    host.record("host",
                Json::object()
                    .set("what", "started")
                    .set("version", DAYBOOK_VERSION_STRING)
                    .set("pid", static_cast<std::int64_t>(::getpid()))
                    .set("isolation", name_of(host.config().host.isolation)));
    host.log().info("serving version=" DAYBOOK_VERSION_STRING " pid=" + std::to_string(::getpid()) +
                    " socket=" + host.needs().places.socket.string() + " " + host.summary());
    loop.run();
    host.on_stop_requested({});
    return {};
}

}  // namespace

Result<> run_daemon(const DaemonOptions& options) {
    ::umask(0077);
    std::signal(SIGPIPE, SIG_IGN);
    const Surroundings surroundings = Surroundings::of_process();
    auto places = find_places(options.places, surroundings);
    if (!places) {
        return places.error();
    }
    auto config = load_config(places->config, places->flags());
    if (!config) {
        return config.error();
    }
    raise_descriptor_limit();
    ::prctl(PR_SET_DUMPABLE, 0);  // keys are in memory: no core, no tracing by the same user
    // Beside the rest of the start: the first desk that is opened would wait for it.
    const std::jthread preparing([] { start_git_library(); });
    LinuxOs os;
    auto state = StateFolder::open(os, places->state);
    if (!state) {
        return state.error();
    }
    auto log = open_log(options, *places, surroundings, *config);
    if (!log) {
        return log.error();
    }
    auto token = load_or_make_token(os, state->dir());
    if (!token) {
        return token.error();
    }
    if (auto noted = note_socket(*places); !noted) {
        return noted;
    }
    if (::geteuid() == 0) {
        (*log)->warn("the host runs as root; a user of its own would be better");
    }
    for (const std::string& warning : config->warnings) {
        (*log)->warn("configuration: " + warning);
    }
    IoLoop loop;
    auto host = Host::open({os, loop, **log, *places, *state}, std::move(*config));
    if (!host) {
        return host.error();
    }
    auto server =
        ControlServer::bind(loop, places->socket, std::move(*token), server_events(**host));
    if (!server) {
        return server.error();
    }
    ServiceNotifier notifier(surroundings.variable);
    auto served = serve(**host, **server, notifier);
    if (!served) {
        (*host)->note_stopping();
        (*host)->drain(kNoGrace);
        return served;
    }
    (*log)->info("stopped");
    return {};
}

}  // namespace daybook
