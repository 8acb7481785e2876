// A plugin's call through the wall: run_call() on a runner of the real kind, beside a bare socket
// pair whose other end is a child that sends back what it gets, and beside the JSON work alone.
#include <csignal>
#include <memory>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/parts.hpp"
#include "bench/plugin_bench.hpp"
#include "host/format/json.hpp"

namespace daybook::bench {
namespace {

constexpr std::size_t kLargest = 64UL * 1024;

/// The least that two processes can do: a datagram there and the same back.
class EchoChild {
  public:
    /// Forks: call it while the process has one thread.
    static Result<std::unique_ptr<EchoChild>> start() {
        int ends[2] = {-1, -1};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
            return Error(Errc::io, "make a socket pair");
        }
        UniqueFd ours(ends[0]);
        UniqueFd theirs(ends[1]);
        const pid_t parent = ::getpid();
        const pid_t child = ::fork();
        if (child < 0) {
            return Error(Errc::io, "fork");
        }
        if (child == 0) {
            ours.reset();
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::_exit(::getppid() == parent ? serve(theirs.get()) : 1);
        }
        return std::unique_ptr<EchoChild>(new EchoChild(std::move(ours), child));
    }
    ~EchoChild() {
        socket_.reset();  // it sees the end and exits
        ::waitpid(child_, nullptr, 0);
    }
    EchoChild(const EchoChild&) = delete;
    EchoChild& operator=(const EchoChild&) = delete;
    EchoChild(EchoChild&&) = delete;
    EchoChild& operator=(EchoChild&&) = delete;

    Result<double> round_trip(const std::string& bytes) {
        const Stopwatch watch;
        if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(bytes.size())) {
            return Error(Errc::io, "send to the echo child");
        }
        if (::recv(socket_.get(), answer_.data(), answer_.size(), 0) !=
            static_cast<ssize_t>(bytes.size())) {
            return Error(Errc::io, "receive from the echo child");
        }
        return watch.microseconds();
    }

  private:
    EchoChild(UniqueFd socket, pid_t child)
        : socket_(std::move(socket)), child_(child), answer_(kLargest, '\0') {}

    static int serve(int socket) {
        static char buffer[kLargest];
        while (true) {
            const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
            if (got <= 0) {
                return got == 0 ? 0 : 1;
            }
            if (::send(socket, buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) {
                return 1;
            }
        }
    }

    UniqueFd socket_;
    pid_t child_;
    std::string answer_;
};

/// A call that asks nothing of the host.
class NoVerbs final : public VerbServer {
  public:
    Result<std::string> serve(Leash&,
                              std::string_view verb,
                              const std::vector<std::string>&,
                              CallOutcome&) override {
        return Error(Errc::refused, std::string(verb) + ": not served here");
    }
};

/// JSON of exactly so many bytes.
std::string arguments_of(std::size_t bytes) {
    const std::string head = R"({"text":")";
    const std::string tail = R"("})";
    std::string text = head;
    while (text.size() < bytes - tail.size()) {
        text += "wait for the first close outside the opening range; ";
    }
    text.resize(bytes - tail.size());
    return text + tail;
}

class CallRun {
  public:
    CallRun(EchoChild& echo, PluginBench& bench, RunnerProcess& runner, std::size_t bytes)
        : echo_(echo),
          bench_(bench),
          runner_(runner),
          arguments_(arguments_of(bytes)),
          name_("call/" + std::to_string(bytes)) {}

    Result<> run(int rounds, int batch, Report& report) {
        auto schema = JsonSchema::compile(bench_.plugin().manifest.tools.front().input_schema);
        if (!schema) {
            return schema.error();
        }
        std::vector<Contender> contenders;
        contenders.push_back(
            {"bare echo",
             [&] {
                 return several(batch, echoes_, [this] { return echo_.round_trip(arguments_); });
             },
             {}});
        contenders.push_back(
            {"call", [&] { return several(batch, calls_, [this] { return call(); }); }, {}});
        contenders.push_back(
            {"json", [&] { return several(batch, jsons_, [&] { return json(*schema); }); }, {}});
        if (auto done = interleave(contenders, rounds, [] {}); !done) {
            return done;
        }
        print(report);
        return {};
    }

  private:
    /// So many in a row, as calls come: the first of a row pays for the change of contender and is
    /// left out.
    static Result<double> several(int batch,
                                  Samples& into,
                                  const std::function<Result<double>()>& one) {
        for (int i = 0; i <= batch; ++i) {
            auto took = one();
            if (!took) {
                return took;
            }
            if (i > 0) {
                into.push_back(*took);
            }
        }
        return 0.0;
    }

    Result<double> call() {
        Leash leash;
        leash.desk = "main";
        leash.plugin = "echo";
        leash.tool = "echo";
        leash.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        CallRequest request;
        request.name = "echo";
        request.arguments = arguments_;
        const Stopwatch watch;
        const CallOutcome outcome = run_call(
            runner_, bench_.inbox(), leash, request, verbs_, {}, std::chrono::milliseconds(500));
        const double took = watch.microseconds();
        if (!outcome.result) {
            return outcome.result.error();
        }
        return *outcome.result == arguments_ ? Result<double>(took)
                                             : Error(Errc::corrupt, "the answer is another text");
    }

    /// What the host does with JSON in a call: arguments read and checked before it (turn layer),
    /// the result read in it.
    Result<double> json(const JsonSchema& schema) const {
        const Stopwatch watch;
        auto arguments = Json::parse(arguments_);
        if (!arguments) {
            return arguments.error();
        }
        if (auto fits = schema.check(*arguments); !fits) {
            return fits.error();
        }
        auto result = Json::parse(arguments_);
        const double took = watch.microseconds();
        return result ? Result<double>(took) : Result<double>(result.error());
    }

    void print(Report& report) const {
        report.row(name_ + "/echo", "us", echoes_);
        report.row(name_ + "/run_call", "us", calls_, &echoes_);
        report.row(name_ + "/json", "us", jsons_, &echoes_);
        const double echo = figures_of(echoes_).median;
        const double call = figures_of(calls_).median;
        const double json = figures_of(jsons_).median;
        // Half of the JSON work, the result's, is inside run_call; the arguments' comes before it.
        const double whole = call + json / 2;
        report.row(name_ + "/json_share", "percent", 100.0 * json / whole);
        report.row(name_ + "/over_echo_and_json", "times", whole / (echo + json));
        report.row(name_ + "/without_json", "times", (whole - json) / echo);
    }

    EchoChild& echo_;
    PluginBench& bench_;
    RunnerProcess& runner_;
    NoVerbs verbs_;
    std::string arguments_;
    std::string name_;
    Samples echoes_, calls_, jsons_;
};

}  // namespace

Result<> measure_calls(const Options& options, Report& report) {
    Report::progress("call: a plugin that gives back its arguments");
    auto echo = EchoChild::start();
    if (!echo) {
        return echo.error();
    }
    auto bench = PluginBench::open();
    if (!bench) {
        return bench.error();
    }
    const auto runner = (*bench)->make_runner();
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    if (auto ready = runner->ensure_ready(patience); !ready) {
        return ready;
    }
    const int batch = options.smoke ? 10 : 100;
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, kLargest}) {
        CallRun run(**echo, **bench, *runner, bytes);
        if (auto done = run.run(options.rounds, batch, report); !done) {
            return done.error().during("call with " + std::to_string(bytes) + " bytes");
        }
    }
    report.note("json: arguments read and checked against the tool's schema, and the result read;");
    report.note("json_share: of a whole call, which is run_call and the arguments' half of json;");
    report.note("over_echo_and_json: a whole call over the bare echo plus the same JSON work;");
    report.note("without_json: a whole call less its JSON work, over the bare echo.");
    return {};
}

}  // namespace daybook::bench
