#include "tests/fault/desk_writer.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "host/format/journal_record.hpp"
#include "host/format/sha256.hpp"
#include "tests/checkpoint/store_fixture.hpp"

namespace daybook::test {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNotesFile = "notes/2026-10-19.md";
constexpr const char* kShared = "memory/shared.md";
constexpr const char* kOwners = "memory/owner.md";

/// Runs in the writer's process; ends it at the first thing that should not happen.
class Work {
  public:
    Work(DiskDesk& desk, int pipe, std::uint64_t seed, std::uint64_t op)
        : desk_(desk), pipe_(pipe), random_(seed), op_(op) {}

    [[noreturn]] void run() {
        if (auto started = desk_.start(); !started) {
            fail("start: " + started.error().message());
        }
        say("started");
        for (;;) {
            one();
        }
    }

  private:
    void one() {
        ++op_;
        const auto dice = random_() % 100;
        if (dice < 45) {
            by_desk("note", kNotesFile, kAppend, note_of(op_));
        } else if (dice < 60) {
            by_desk("write", "Memory.md", kReplace, content_of(op_));
        } else if (dice < 68) {
            by_desk("write", kShared, kReplace, content_of(op_));
            before_ = now_;
            now_ = content_of(op_);
        } else if (dice < 76) {
            by_desk("write",
                    "memory/f" + std::to_string(random_() % 9) + "/a.md",
                    kReplace,
                    content_of(op_));
        } else if (dice < 84) {
            by_desk("write", "skills/s" + std::to_string(op_) + ".md", kReplace, content_of(op_));
        } else if (dice < 90) {
            by_owner(kOwners, content_of(op_));
        } else if (dice < 95) {
            by_owner(kShared, content_of(op_));
            now_ = content_of(op_);
        } else if (!before_.empty()) {
            by_owner(kShared, before_);  // an editor's undo: the content that was there before
            std::swap(before_, now_);
        }
    }

    void by_desk(const std::string& kind,
                 const std::string& file,
                 FileOperation operation,
                 const std::string& text) {
        say("begin " + std::to_string(op_) + " " + kind + " " + file);
        auto receipt = desk_.write(file, operation, text);
        if (!receipt) {
            fail("write " + file + ": " + receipt.error().message());
        }
        say("done " + std::to_string(op_) + " " + receipt->checkpoint);
    }

    /// As an editor does that keeps its word: temporary file, fsync, rename, fsync of the folder.
    void by_owner(const std::string& file, const std::string& content) {
        // The content may be an older one: its number goes along.
        const std::string id = content.substr(10, content.find('\n') - 10);
        say("begin " + std::to_string(op_) + " owner:" + id + " " + file);
        const fs::path path = desk_.folder() / file;
        fs::create_directories(path.parent_path());
        const fs::path saved = path.parent_path() / ".save.swp";
        const int fd = ::open(saved.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        const bool is_written =
            ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
            ::fsync(fd) == 0;
        ::close(fd);
        const int folder = ::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (!is_written || ::rename(saved.c_str(), path.c_str()) != 0 || ::fsync(folder) != 0) {
            fail("the owner cannot save");
        }
        ::close(folder);
        say("done " + std::to_string(op_) + " owner");
    }

    void say(const std::string& words) const {
        const std::string line = words + "\n";
        if (::write(pipe_, line.data(), line.size()) < 0) {
            ::_exit(4);
        }
    }
    [[noreturn]] void fail(const std::string& why) const {
        say("failed " + why);
        ::_exit(3);
    }

    DiskDesk& desk_;
    int pipe_;
    std::mt19937_64 random_;
    std::uint64_t op_;
    std::string before_, now_;  ///< of the shared file, as far as this process knows
};

}  // namespace

std::string note_of(std::uint64_t op) {
    return "- note " + std::to_string(op) + " of the day";
}

std::string content_of(std::uint64_t op) {
    const std::string id = std::to_string(op);
    return "# content " + id + "\n" + std::string(50 + (op * 7919) % 5000, 'x') + "\nend " + id +
           "\n";
}

Result<> DiskDesk::start() {
    stop();
    fs::create_directories(folder());
    auto opened_state = os.open_root(root);
    auto opened_dir = os.open_root(folder());
    if (!opened_state || !opened_dir) {
        return Error(Errc::io, "open the desk's folder");
    }
    state = std::move(*opened_state);
    dir = std::move(*opened_dir);
    auto journal_opened =
        Journal::open(os, clock, state.get(), "journal/main", "main", std::nullopt);
    if (!journal_opened) {
        return journal_opened.error();
    }
    journal = std::move(*journal_opened);
    auto store_opened =
        CheckpointStore::open(os, clock, dir.get(), repository(), "main", form_of_tests());
    if (!store_opened) {
        return store_opened.error();
    }
    store = std::move(*store_opened);
    gate = std::make_unique<WriteGate>(os, clock, dir.get(), "main", *store, *journal);
    return gate->recover();
}

void DiskDesk::stop() {
    gate.reset();
    store.reset();
    journal.reset();
    dir = UniqueFd();
    state = UniqueFd();
}

std::optional<std::string> DiskDesk::get(const std::string& name) const {
    std::ifstream in(folder() / name, std::ios::binary);
    if (!in) {
        return std::nullopt;
    }
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string DiskDesk::fsck() const {
    // git's fsck calls an object missing that comes while it looks.
    if (const auto published = store ? store->publish() : Result<>(); !published) {
        return published.error().message();
    }
    const Ran ran = run("git --git-dir '" + repository().string() +
                        "' fsck --full --strict --no-dangling --no-progress");
    return ran.code == 0 && ran.output.empty()
               ? ""
               : "git fsck: code " + std::to_string(ran.code) + ": " + ran.output.substr(0, 2000);
}

Result<WriteReceipt> DiskDesk::write(const std::string& name,
                                     FileOperation operation,
                                     const std::string& text) {
    TurnAllowance allowance =
        TurnAllowance::of(TurnKind::owner_call, *DeskDate::parse("2026-10-19"));
    allowance.notes_left = -1;
    WriteRequest request{path_of(name)};
    request.operation = operation;
    request.text = text;
    request.reason = "a test writes";
    Leash leash;
    leash.desk = "main";
    leash.tool = "write_file";
    leash.groups = kDeskFiles;
    leash.file = FileGrant{request.path, kAppend | kReplace | kEdit};
    leash.bytes_left = 1 << 20;
    leash.writes_left = 1000;
    leash.calls_left = 4;
    leash.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
    ShownFiles shown;
    if (operation == kReplace) {
        if (auto read = gate->read(shown, request.path);
            !read && read.error().code() != Errc::not_found) {
            return read.error();
        }
    }
    WriteContext context;
    context.session = "2026-10-19-1";
    context.turn = "t-1";
    context.tool = "write_file";
    context.call = "7";
    context.plugin = "memory";
    return gate->write(leash, allowance, shown, context, request);
}

void Promises::hear(const std::string& output) {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (lines.eof()) {
            break;  // the stop cut it
        }
        std::istringstream words(line);
        std::string what, second, third;
        std::uint64_t op = 0;
        words >> what;
        if (what == "begin") {
            words >> op >> second >> third;
            begin(op, second, third);
        } else if (what == "done") {
            words >> op >> second;
            done(op, second);
        }
    }
    running_.clear();
}

void Promises::begin(std::uint64_t op, const std::string& kind, const std::string& file) {
    Running running{kind, file, ""};
    if (kind == "note") {
        running.content = note_of(op);
        notes_maybe_.insert(running.content);
    } else {
        running.content = content_of(kind.starts_with("owner:") ? std::stoull(kind.substr(6)) : op);
        auto& allowed = files_[file];
        if (allowed.empty()) {
            allowed.insert(std::nullopt);
        }
        allowed.insert(running.content);
    }
    running_[op] = std::move(running);
}

void Promises::done(std::uint64_t op, const std::string& checkpoint) {
    const auto found = running_.find(op);
    if (found == running_.end()) {
        return;
    }
    const Running& running = found->second;
    if (running.kind == "note") {
        notes_maybe_.erase(running.content);
        notes_.insert(running.content);
    } else {
        files_[running.file] = {running.content};
    }
    if (checkpoint.starts_with("c-")) {
        ++writes_;
        newest_ = std::stoull(checkpoint.substr(2));
        checkpoints_[checkpoint] = Write{
            running.file, running.kind == "note" ? std::string() : sha256_hex(running.content)};
    }
    running_.erase(found);
}

std::string Promises::check_notes(const DiskDesk& desk) {
    const std::string text = desk.get(kNotesFile).value_or("");
    std::string wrong = text.empty() || text.ends_with('\n') ? "" : "the notes end within a line\n";
    std::map<std::string, int> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const int count = ++lines[line];
        if (!notes_.contains(line) && !notes_maybe_.contains(line)) {
            wrong += "nobody wrote the note \"" + line.substr(0, 80) + "\"\n";
        } else if (count > 1) {
            wrong += "twice: " + line + "\n";
        }
    }
    for (const std::string& note : notes_) {
        wrong += lines.contains(note) ? "" : "lost: " + note + "\n";
    }
    for (const std::string& note : notes_maybe_) {
        if (lines.contains(note)) {
            notes_.insert(note);
        }
    }
    notes_maybe_.clear();
    return wrong;
}

std::string Promises::check_files(const DiskDesk& desk) {
    std::string wrong;
    for (auto& [file, allowed] : files_) {
        const Content now = desk.get(file);
        if (!allowed.contains(now)) {
            wrong +=
                file + " holds " +
                (now ? "\"" + now->substr(0, 30) + "\" of " + std::to_string(now->size()) + " bytes"
                     : std::string("nothing")) +
                ", not one of";
            for (const Content& each : allowed) {
                wrong += each ? " \"" + each->substr(0, each->find('\n')) + "\"" : " (no file)";
            }
            wrong += "\n";
        }
        const std::string committed = desk.store->committed_sha256(path_of(file));
        if (committed != (now ? sha256_hex(*now) : "")) {
            wrong += file + " is not as the newest commit holds it\n";
        }
        allowed = {now};
    }
    return wrong;
}

std::string Promises::check_checkpoints(const DiskDesk& desk) const {
    auto newest = desk.store->list(1);
    if (!newest) {
        return newest.error().message() + "\n";
    }
    std::string wrong;
    if (newest_ != 0 && (newest->empty() || newest->front().number < newest_)) {
        wrong += "the newest checkpoint is before c-" + std::to_string(newest_) + "\n";
    }
    constexpr std::size_t kLooked = 40;  // the older ones are their ancestors
    std::size_t looked = 0;
    for (auto each = checkpoints_.rbegin(); each != checkpoints_.rend() && looked < kLooked;
         ++each, ++looked) {
        auto found = desk.store->find(each->first);
        if (!found) {
            wrong += found.error().message() + "\n";
            continue;
        }
        // Also when the owner saved the file right after it.
        const bool is_same =
            found->file == each->second.file && !found->written_commit.empty() &&
            (each->second.sha256.empty() || found->intended_sha256 == each->second.sha256);
        wrong += is_same ? "" : each->first + " is not the checkpoint that was acknowledged\n";
    }
    return wrong;
}

std::string Promises::check_lines(const DiskDesk& desk) const {
    std::map<std::string, int> lines;
    for (const auto& file : fs::directory_iterator(desk.root / "journal/main")) {
        std::ifstream in(file.path());
        for (std::string line; file.path().extension() == ".jsonl" && std::getline(in, line);) {
            auto record = JournalRecord::from_line(line);
            if (record && record->entry.type.ends_with("_written")) {
                ++lines[record->entry.data["checkpoint"].as_string()];
            }
        }
    }
    std::string wrong;
    for (const auto& [checkpoint, write] : checkpoints_) {
        if (lines[checkpoint] != 1) {
            wrong += checkpoint + " stands " + std::to_string(lines[checkpoint]) +
                     " times in the journal\n";
        }
    }
    return wrong;
}

std::string Promises::check(DiskDesk& desk) {
    std::string wrong = check_checkpoints(desk) + check_lines(desk);
    wrong += check_notes(desk) + check_files(desk) + desk.fsck();
    for (const auto& entry : fs::recursive_directory_iterator(desk.folder())) {
        if (entry.path().filename().string().ends_with(".daybook~")) {
            wrong += "left: " + entry.path().string() + "\n";
        }
    }
    checkpoints_.clear();
    return wrong;
}

Writer::Writer(const fs::path& root, std::uint64_t seed, std::uint64_t first_op) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("make a pipe");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(ends[0]);
        DiskDesk desk(root);
        Work(desk, ends[1], seed, first_op).run();
    }
    ::close(ends[1]);
    pipe_ = ends[0];
}

Writer::~Writer() {
    kill();
    ::close(pipe_);
}

bool Writer::read_some(int timeout_ms) {
    pollfd ready{pipe_, POLLIN, 0};
    if (::poll(&ready, 1, timeout_ms) <= 0) {
        return false;
    }
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(pipe_, buffer.data(), buffer.size());
    output_.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return got > 0;
}

void Writer::wait_started(std::chrono::milliseconds longest) {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!output_.starts_with("started\n") && std::chrono::steady_clock::now() < end) {
        if (!read_some(1) && output_.starts_with("failed")) {
            return;
        }
    }
}

void Writer::listen(std::chrono::microseconds how_long) {
    const auto end = std::chrono::steady_clock::now() + how_long;
    for (auto now = std::chrono::steady_clock::now(); now < end;
         now = std::chrono::steady_clock::now()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
        if (left.count() == 0) {
            return;
        }
        static_cast<void>(read_some(static_cast<int>(left.count())));
    }
}

void Writer::freeze() const {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
}

void Writer::kill() {
    if (pid_ <= 0) {
        return;
    }
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    while (read_some(0)) {
    }
}

}  // namespace daybook::test
