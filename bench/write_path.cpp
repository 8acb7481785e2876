// Checkpoint and write through the gate, beside a plain durable write of the same 2 KB and beside
// git, at several sizes of desk; and how many flushes each costs.
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "bench/bench_desk.hpp"
#include "bench/flush_count.hpp"
#include "bench/git_peer.hpp"
#include "bench/parts.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::bench {
namespace {

Error system_error(std::string_view operation) {
    return Error(Errc::io, std::string(operation) + ": " + std::generic_category().message(errno));
}

/// What every careful program does, and no more: temporary file, fsync, rename, fsync of the
/// folder.
Result<> write_plainly(int folder, const std::string& text) {
    const UniqueFd file(
        ::openat(folder, "Memory.md.tmp", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) {
        return system_error("make a file");
    }
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        return system_error("write");
    }
    if (::fsync(file.get()) != 0 || ::renameat(folder, "Memory.md.tmp", folder, "Memory.md") != 0 ||
        ::fsync(folder) != 0) {
        return system_error("sync and rename");
    }
    return {};
}

/// Times one thing and counts its flushes.
class Meter {
  public:
    Result<double> measure(const std::function<Result<>()>& work) {
        const std::uint64_t before = process_flushes();
        const Stopwatch watch;
        auto done = work();
        const double took = watch.milliseconds();
        flushes.push_back(static_cast<double>(process_flushes() - before));
        return done ? Result<double>(took) : Result<double>(done.error());
    }
    Samples flushes;  ///< of the whole process, the warm-up included
};

/// Everything that is measured at one size of desk.
class WriteRun {
  public:
    WriteRun(int files, const Options& options) : files_(files), options_(options) {}

    Result<> run(Report& report) {
        if (auto made = prepare(); !made) {
            return made;
        }
        auto done = interleave(contenders_, options_.rounds, [this] { ::syncfs(plain_.get()); });
        if (!done) {
            return done;
        }
        for (BenchDesk* desk : {gated_.get(), bare_.get()}) {
            if (auto same = desk->check(); !same) {
                return same;
            }
        }
        print(report);
        return {};
    }

  private:
    enum Place : std::size_t { plain, append, replace, take, record };

    Result<> prepare() {
        for (const char* name : {"gated", "bare", "plain"}) {
            std::filesystem::create_directories(home_ / name);
        }
        auto gated = BenchDesk::open(home_ / "gated", files_);
        auto bare = BenchDesk::open(home_ / "bare", files_);
        if (!gated || !bare) {
            return (!gated ? gated : bare).error();
        }
        gated_ = std::move(*gated);
        bare_ = std::move(*bare);
        plain_.reset(::open((home_ / "plain").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!plain_) {
            return system_error("open the folder");
        }
        // Every file of the desk is there before the rounds: the first note makes the day's file.
        if (auto noted = gated_->append_note(0); !noted) {
            return noted;
        }
        if (auto noted = bare_->append_note(0); !noted) {
            return noted;
        }
        add_ours();
        return add_git();
    }

    void add_ours() {
        meters_ = std::vector<Meter>(5);
        contenders_.push_back({"plain write",
                               [this] {
                                   const std::string text = memory_text(++number_);
                                   return meters_[plain].measure(
                                       [&] { return write_plainly(plain_.get(), text); });
                               },
                               {}});
        contenders_.push_back(
            {"append a note",
             [this] {
                 ++number_;
                 const std::uint64_t before = gated_->flushes();
                 auto took =
                     meters_[append].measure([this] { return gated_->append_note(number_); });
                 through_os_[0].push_back(static_cast<double>(gated_->flushes() - before));
                 return took;
             },
             {}});
        contenders_.push_back(
            {"replace memory",
             [this] {
                 ++number_;
                 const std::uint64_t before = gated_->flushes();
                 auto took =
                     meters_[replace].measure([this] { return gated_->replace_memory(number_); });
                 through_os_[1].push_back(static_cast<double>(gated_->flushes() - before));
                 return took;
             },
             {}});
        contenders_.push_back({"checkpoint", [this] { return take_and_record(); }, {}});
    }

    /// Two figures from one round: the checkpoint before a write, and the commit of what it left.
    Result<double> take_and_record() {
        ++number_;
        Result<Checkpoint> checkpoint = Error(Errc::internal, "not taken");
        auto took = meters_[take].measure([&]() -> Result<> {
            checkpoint = bare_->take_checkpoint(number_);
            return checkpoint ? Result<>() : Result<>(checkpoint.error());
        });
        if (!took) {
            return took;
        }
        if (auto put = bare_->put_memory(number_); !put) {
            return put.error();
        }
        ::syncfs(plain_.get());
        auto recorded =
            meters_[record].measure([&] { return bare_->record_memory(*checkpoint, number_); });
        if (!recorded) {
            return recorded;
        }
        recorded_.push_back(*recorded);
        return took;
    }

    Result<> add_git() {
        const std::filesystem::path folder = home_ / "git/desk";
        fill_desk(
            folder, files_, DeskDate{std::chrono::floor<std::chrono::days>(SystemClock().now())});
        auto git = GitPeer::open(folder, home_ / "git/store");
        if (!git && git.error().code() == Errc::not_found && !options_.with_git) {
            Report::progress("no git program: its rows are left out");
            return {};
        }
        if (!git) {
            return git.error();
        }
        git_ = std::make_unique<GitPeer>(std::move(*git));
        const auto after_a_change = [this, folder](Result<> (GitPeer::*checkpoint)()) {
            return [this, folder, checkpoint]() -> Result<double> {
                std::ofstream(folder / "Memory.md", std::ios::trunc) << memory_text(++number_);
                ::syncfs(plain_.get());
                const Stopwatch watch;
                auto done = (git_.get()->*checkpoint)();
                return done ? Result<double>(watch.milliseconds()) : Result<double>(done.error());
            };
        };
        contenders_.push_back({"git add and commit", after_a_change(&GitPeer::add_and_commit), {}});
        contenders_.push_back({"git sequence", after_a_change(&GitPeer::sequence), {}});
        return {};
    }

    void print(Report& report) {
        const std::string size = "/" + std::to_string(files_);
        const Samples& floor = contenders_[plain].samples;
        recorded_.erase(recorded_.begin());  // the warm-up's
        report.row("write" + size + "/plain", "ms", floor);
        report.row("write" + size + "/append", "ms", contenders_[append].samples, &floor);
        report.row("write" + size + "/replace", "ms", contenders_[replace].samples, &floor);
        report.row("checkpoint" + size + "/take", "ms", contenders_[take].samples, &floor);
        report.row("checkpoint" + size + "/record_written", "ms", recorded_, &floor);
        if (git_) {
            report.row("git" + size + "/add_commit", "ms", contenders_[take + 1].samples, &floor);
            report.row("git" + size + "/sequence", "ms", contenders_[take + 2].samples, &floor);
        }
        const Samples& plain_flushes = meters_[plain].flushes;
        report.row("flushes" + size + "/plain", "calls", plain_flushes);
        report.row("flushes" + size + "/append", "calls", meters_[append].flushes, &plain_flushes);
        report.row(
            "flushes" + size + "/replace", "calls", meters_[replace].flushes, &plain_flushes);
        report.row("flushes" + size + "/take", "calls", meters_[take].flushes, &plain_flushes);
        report.row(
            "flushes" + size + "/record_written", "calls", meters_[record].flushes, &plain_flushes);
        report.row("flushes" + size + "/append_by_os", "calls", through_os_[0]);
        report.row("flushes" + size + "/replace_by_os", "calls", through_os_[1]);
    }

    int files_;
    const Options& options_;
    test::TempFolder home_;
    UniqueFd plain_;
    std::unique_ptr<BenchDesk> gated_, bare_;  ///< written through the gate; checkpoints alone
    std::unique_ptr<GitPeer> git_;
    std::vector<Contender> contenders_;
    std::vector<Meter> meters_;
    Samples recorded_;
    Samples through_os_[2];
    int number_ = 100000;  ///< of the text written last; the desk's other files hold lower ones
};

}  // namespace

Result<> measure_writes(const Options& options, Report& report) {
    for (const int files : options.smoke ? std::vector<int>{10} : std::vector<int>{10, 100, 1000}) {
        Report::progress("write: a desk of " + std::to_string(files) + " files");
        WriteRun run(files, options);
        if (auto done = run.run(report); !done) {
            return done.error().during("desk of " + std::to_string(files) + " files");
        }
    }
    report.note(
        "flushes: fsync and fdatasync of the whole process; _by_os: those of them that went");
    report.note("through Os, the others are libgit2's. git syncs nothing: it is not durable.");
    return {};
}

}  // namespace daybook::bench
