// The host's own share of a turn: from the trigger's acceptance to the end of its turn, with a
// scripted model that answers at once.
#include <condition_variable>
#include <mutex>

#include "bench/counting_os.hpp"
#include "bench/turn_parts.hpp"
#include "host/journal/journal.hpp"
#include "host/turn/desk.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::bench {
namespace {

constexpr std::chrono::seconds kPatience{30};

/// One desk with a model that says "done".
class TurnBench {
  public:
    explicit TurnBench(CountingOs::Flushes flushes) : os_(real_, flushes) {}

    Result<> open() {
        config_.host.min_free_bytes = 1;
        config_.plugins["scripted"].name = "scripted";
        ModelConfig model;
        model.name = "one";
        model.plugin = "scripted";
        model.model = "scripted";
        auto script = Json::parse(R"([{"match":"","text":"done"}])");
        if (!script) {
            return script.error();
        }
        model.config = Json::object().set("script", std::move(*script));
        config_.models["one"] = model;
        DeskConfig desk;
        desk.name = "main";
        desk.models = {"one"};
        config_.desks["main"] = desk;
        folder_.write("probe", "x");
        auto dir = os_.open_root(folder_.path());
        if (!dir) {
            return dir.error();
        }
        home_ = std::move(*dir);
        auto journal =
            Journal::open(os_, clock_, home_.get(), "journal/_host", "_host", std::nullopt);
        if (!journal) {
            return journal.error();
        }
        host_journal_ = std::move(*journal);
        auto registry = Registry::load(
            real_, {{DAYBOOK_BENCH_FIXTURES}, folder_.path(), {DAYBOOK_BENCH_FIXTURES}}, config_);
        if (!registry) {
            return registry.error();
        }
        registry_ = std::make_unique<Registry>(std::move(*registry));
        services_.emplace(DeskServices{.os = os_,
                                       .clock = clock_,
                                       .loop = io_.loop,
                                       .registry = *registry_,
                                       .config = config_,
                                       .host_journal = *host_journal_,
                                       .home = folder_.path(),
                                       .share = DAYBOOK_BENCH_SHARE,
                                       .runner_program = DAYBOOK_BENCH_RUNNER,
                                       .probe_file = folder_ / "probe",
                                       .log = [](int, const std::string&) {}});
        auto opened = Desk::open(*services_, desk);
        if (!opened) {
            return opened.error();
        }
        desk_ = std::move(*opened);
        desk_->listen([this](const Json& event) {
            if (event["event"].as_string() == "turn_end") {
                const std::lock_guard lock(mutex_);
                outcome_ = event["outcome"].as_string();
                ended_.notify_one();
            }
        });
        return {};
    }

    /// Milliseconds of one turn.
    Result<double> turn() {
        {
            const std::lock_guard lock(mutex_);
            outcome_.clear();
        }
        const Stopwatch watch;
        if (auto accepted = desk_->accept(TurnKind::message, "hello", "", ""); !accepted) {
            return accepted.error();
        }
        std::unique_lock lock(mutex_);
        const bool came = ended_.wait_for(lock, kPatience, [&] { return !outcome_.empty(); });
        const double took = watch.milliseconds();
        if (!came || outcome_ != "completed") {
            return Error(Errc::no_answer, "the turn ended as " + outcome_);
        }
        lock.unlock();
        desk_->wait_idle(std::chrono::steady_clock::now() + kPatience);
        return took;
    }
    [[nodiscard]] std::uint64_t flushes() const { return os_.flushes(); }
    [[nodiscard]] int dir() const { return home_.get(); }
    [[nodiscard]] Os& os() { return real_; }

  private:
    test::TempFolder folder_;
    LinuxOs real_;
    CountingOs os_;
    SystemClock clock_;
    Config config_;
    test::IoThread io_;
    UniqueFd home_;
    std::unique_ptr<Journal> host_journal_;
    std::unique_ptr<Registry> registry_;
    std::optional<DeskServices> services_;
    std::shared_ptr<Desk> desk_;
    std::mutex mutex_;  // guards outcome_
    std::condition_variable ended_;
    std::string outcome_;
};

/// What the same number of bare appends and flushes takes.
Result<double> bare_flushes(TurnBench& bench, std::uint64_t count) {
    auto file = bench.os().open_beneath(bench.dir(), "floor", OpenMode::append, 0600);
    if (!file) {
        return file.error();
    }
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (auto written = bench.os().write_all(file->get(), std::string(300, 'x')); !written) {
            return written.error();
        }
        if (auto synced = bench.os().data_sync(file->get()); !synced) {
            return synced.error();
        }
    }
    return watch.milliseconds();
}

}  // namespace

Result<> measure_turn(const Options& options, Report& report) {
    TurnBench without(CountingOs::Flushes::leave_out);
    TurnBench with(CountingOs::Flushes::pass);
    for (TurnBench* bench : {&without, &with}) {
        if (auto opened = bench->open(); !opened) {
            return opened;
        }
        // The first opens the session and starts the model's runner.
        if (auto first = bench->turn(); !first) {
            return first.error();
        }
    }
    const std::uint64_t before = with.flushes();
    if (auto one = with.turn(); !one) {
        return one.error();
    }
    const std::uint64_t flushes = with.flushes() - before;
    std::vector<Contender> contenders;
    contenders.push_back({"a turn without flushes", [&] { return without.turn(); }, {}});
    contenders.push_back({"a turn", [&] { return with.turn(); }, {}});
    contenders.push_back({"its flushes alone", [&] { return bare_flushes(with, flushes); }, {}});
    if (auto done = interleave(contenders, options.rounds, [] {}); !done) {
        return done;
    }
    report.row("turn/without_flushes", "ms", contenders[0].samples);
    report.row("turn/whole", "ms", contenders[1].samples, &contenders[2].samples);
    report.row("turn/its_flushes_alone", "ms", contenders[2].samples);
    report.row("turn/flushes", "count", static_cast<double>(flushes));
    report.note(
        "the model answers at once in a runner of its own: its round trip is in the share.");
    return {};
}

}  // namespace daybook::bench
