// The owner's edits of an open desk, each as an editor makes it, through the real inotify.
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/os/folder_watcher.hpp"
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// A desk that is watched. What stood there before it was opened is committed.
class Edited {
  public:
    explicit Edited(const std::string& script = "[]", FolderWatcher::Bounds bounds = {})
        : bench(script) {
        bench.folder.write("workspace/main/Memory.md", "old\n");
        bench.folder.write("workspace/main/notes/2026-10-18.md", "- old\n");
        bench.open();
        bench.desk.reset();
        watcher = std::make_unique<FolderWatcher>(bench.io->loop, bounds);
        bench.services->watcher = watcher.get();
        bench.desk = must(Desk::open(*bench.services, bench.desk_config));
        bench.desk->listen([this](const Json& event) { bench.events.take(event); });
    }
    ~Edited() {
        bench.desk.reset();
        watcher.reset();
    }
    Edited(const Edited&) = delete;
    Edited& operator=(const Edited&) = delete;
    Edited(Edited&&) = delete;
    Edited& operator=(Edited&&) = delete;

    [[nodiscard]] fs::path at(const std::string& name) const {
        return bench.folder / "workspace/main" / name;
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(at(name), std::ios::binary) << text;
    }
    /// The newest checkpoint holds that; "" = no such file.
    bool eventually_holds(const std::string& name, const std::string& text) {
        return !bench.events
                    .wait([&](const Json& event) {
                        return event["event"].as_string() == "edited" &&
                               held(event["checkpoint"].as_string(), name) == text;
                    })
                    .is_null();
    }
    [[nodiscard]] std::string held(const std::string& id, const std::string& name) const {
        const CheckpointStore& store = bench.desk->checkpoints();
        const auto found = must(store.find(id));
        return must(store.read(found, must(DeskPath::parse(name)))).value_or("");
    }
    [[nodiscard]] std::size_t edits() const { return bench.events.all("edited").size(); }
    /// For what must not happen: lets the time go by in which it would.
    void let_pass(std::chrono::milliseconds time) const {
        std::mutex mutex;
        std::condition_variable rung;
        bool over = false;
        const auto timer = bench.io->loop.after(time, [&] {
            const std::lock_guard guard(mutex);
            over = true;
            rung.notify_one();
        });
        std::unique_lock lock(mutex);
        REQUIRE(rung.wait_until(lock, patience() + time, [&] { return over; }));
    }

    DeskBench bench;
    std::unique_ptr<FolderWatcher> watcher;
};

int number_of(const std::string& checkpoint) {
    return std::stoi(checkpoint.substr(2));
}

void write_and_close(int fd, const std::string& text) {
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(fd);
}

}  // namespace

TEST_CASE("an edit between turns is a checkpoint of its own soon after, however it was saved",
          "[turn]") {
    Edited desk;
    const auto before = must(desk.bench.desk->checkpoints().list(100)).size();
    SECTION("in place") {
        desk.write("Memory.md", "new\n");
    }
    SECTION("a temporary file renamed over it") {
        desk.write(".Memory.md.tmp", "new\n");
        fs::rename(desk.at(".Memory.md.tmp"), desk.at("Memory.md"));
    }
    SECTION("vim: a probe, a backup, a new file, the backup goes") {
        desk.write("4913", "");
        fs::remove(desk.at("4913"));
        fs::rename(desk.at("Memory.md"), desk.at("Memory.md~"));
        desk.write("Memory.md", "new\n");
        fs::remove(desk.at("Memory.md~"));
    }
    SECTION("sed -i: a temporary file with the mode of the old one") {
        desk.write("sedXYZ", "new\n");
        fs::permissions(desk.at("sedXYZ"), fs::perms::owner_read | fs::perms::owner_write);
        fs::rename(desk.at("sedXYZ"), desk.at("Memory.md"));
    }
    SECTION("emacs: the old file becomes the backup by a link, the new one is written") {
        fs::create_hard_link(desk.at("Memory.md"), desk.at("Memory.md~"));
        desk.write("#Memory.md#", "new\n");
        fs::rename(desk.at("#Memory.md#"), desk.at("Memory.md"));
    }
    REQUIRE(desk.eventually_holds("Memory.md", "new\n"));
    const auto all = must(desk.bench.desk->checkpoints().list(100));
    CHECK(all.size() > before);
    CHECK(all.front().kind == "edited");
    CHECK(must(desk.bench.desk->checkpoints().files(all.front())).size() == 2);
    CHECK(desk.bench.records("checkpoint").size() == desk.edits());
}

TEST_CASE("a new folder with a file, a deletion and a change of mode are edits too", "[turn]") {
    Edited desk;
    fs::create_directories(desk.at("memory/deep/er"));
    desk.write("memory/deep/er/a.md", "a\n");
    REQUIRE(desk.eventually_holds("memory/deep/er/a.md", "a\n"));
    desk.write("memory/deep/er/a.md", "b\n");
    REQUIRE(desk.eventually_holds("memory/deep/er/a.md", "b\n"));
    const std::string before = desk.bench.events.all("edited").back()["checkpoint"].as_string();
    REQUIRE(::chmod(desk.at("memory/deep/er/a.md").c_str(), 0600) == 0);
    REQUIRE_FALSE(desk.bench.events
                      .wait([&](const Json& event) {
                          return event["event"].as_string() == "edited" &&
                                 number_of(event["checkpoint"].as_string()) > number_of(before);
                      })
                      .is_null());
    fs::remove_all(desk.at("memory/deep"));
    CHECK(desk.eventually_holds("memory/deep/er/a.md", ""));
}

TEST_CASE("a file that is saved slowly is not recorded by halves", "[turn]") {
    Edited desk;
    const int fd = ::open(desk.at("Memory.md").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, "first half, ", 12) == 12);
    desk.let_pass(std::chrono::milliseconds(1500));
    CHECK(desk.edits() == 0);
    write_and_close(fd, "second half\n");
    REQUIRE(desk.eventually_holds("Memory.md", "first half, second half\n"));
    CHECK(desk.edits() == 1);
}

TEST_CASE("what the gate writes is no edit, the owner's own files are none either", "[turn]") {
    Edited desk;
    const auto written =
        desk.bench.call_tool("write_file", R"({"path":"memory/own.md","text":"by the desk\n"})");
    REQUIRE(written.result);
    REQUIRE(desk.bench.call_tool("add_note", R"({"text":"a note of the desk"})").result);
    desk.write("mine.txt", "mine\n");
    desk.let_pass(std::chrono::milliseconds(1000));
    CHECK(desk.edits() == 0);
    for (const Checkpoint& each : must(desk.bench.desk->checkpoints().list(100))) {
        CHECK((each.kind == "write" || each.number == 1));
    }
    desk.write("memory/own.md", "by the owner\n");
    CHECK(desk.eventually_holds("memory/own.md", "by the owner\n"));
    CHECK(desk.edits() == 1);
}

TEST_CASE("an edit while a turn waits for its model is recorded at once", "[turn]") {
    Edited desk(R"([{"match":"","text":"so","hang":true}])");
    desk.bench.accept("think long");
    REQUIRE_FALSE(desk.bench.events.wait("text").is_null());
    desk.write("Memory.md", "meanwhile\n");
    CHECK(desk.eventually_holds("Memory.md", "meanwhile\n"));
    CHECK(desk.bench.events.all("turn_end").empty());
    desk.bench.desk->interrupt("enough");
    CHECK_FALSE(desk.bench.events.wait("turn_end").is_null());
}

TEST_CASE("a thousand files at once become one checkpoint or a few", "[turn]") {
    Edited desk;
    for (int i = 0; i < 1000; ++i) {
        fs::create_directories(desk.at("memory"));
        desk.write("memory/" + std::to_string(i) + ".md", std::to_string(i) + "\n");
    }
    REQUIRE(desk.eventually_holds("memory/999.md", "999\n"));
    CHECK(desk.edits() < 20);
}

TEST_CASE("a closed desk has no watches, and what is not watched waits for the next turn",
          "[turn]") {
    Edited desk(R"([{"match":"","text":"done"}])", {.folders = 1, .each = 1});
    CHECK(desk.bench.log().find("not every folder is watched") != std::string::npos);
    desk.write("notes/2026-10-18.md", "- new\n");
    CHECK(desk.bench.say("hello")["outcome"].as_string() == "completed");
    const auto all = must(desk.bench.desk->checkpoints().list(10));
    CHECK(std::any_of(all.begin(), all.end(), [&](const Checkpoint& each) {
        return desk.held(each.id, "notes/2026-10-18.md") == "- new\n";
    }));
    CHECK(desk.watcher->status().folders == 1);
    desk.bench.desk.reset();
    CHECK(desk.watcher->status().folders == 0);
}

TEST_CASE("a restore in the middle of a turn comes first, and what the turn had seen is stale",
          "[turn]") {
    Edited desk(R"([
      {"match":"work","calls":[{"name":"read_file","arguments":{"path":"Memory.md"}}],"text":"reading"},
      {"after":"read_file","match":"","calls":[{"name":"edit_file","arguments":{
          "path":"Memory.md","old_text":"newer","new_text":"made of newer"}}],"text":"editing"},
      {"after":"edit_file","match":"","text":"done"}])");
    desk.write("Memory.md", "newer\n");
    REQUIRE(desk.eventually_holds("Memory.md", "newer\n"));
    const auto oldest = must(desk.bench.desk->checkpoints().find("c-1"));
    REQUIRE(desk.held(oldest.id, "Memory.md") == "old\n");

    std::optional<Result<Json>> restored;  // written on the desk's thread, read after the turn
    bool was_in_turn = false;
    const auto listener = desk.bench.desk->listen([&](const Json& event) {
        if (event["event"].as_string() == "tool_result" &&
            event["tool"].as_string() == "read_file") {
            // Served while the model's next call is out.
            desk.bench.desk->restore(oldest.id, "", [&](Result<Json> done) {
                was_in_turn = desk.bench.events.all("turn_end").empty();
                restored = std::move(done);
            });
        }
    });
    const Json end = desk.bench.say("work");
    desk.bench.settle();
    desk.bench.desk->unlisten(listener);
    CHECK(end["outcome"].as_string() == "completed");
    REQUIRE(restored.has_value());
    REQUIRE(*restored);
    CHECK(was_in_turn);
    const auto results = desk.bench.events.all("tool_result");
    REQUIRE(results.size() == 2);
    CHECK(results[1]["status"].as_string() == "conflict");
    CHECK(desk.bench.folder.read("workspace/main/Memory.md") == "old\n");
    // Nothing is lost: what stood there before is in the restore's own checkpoint.
    const std::string before = (**restored)["checkpoint"].as_string();
    CHECK(must(desk.bench.desk->checkpoints().find(before)).kind == "restore");
    CHECK(desk.held(before, "Memory.md") == "newer\n");
}

TEST_CASE("notes that are asked for at the same instant are all written (M14)", "[turn]") {
    Edited desk;
    constexpr int kNotes = 12;
    std::atomic<int> written{0};
    std::atomic<int> answered{0};
    std::vector<std::thread> askers;
    for (int i = 0; i < kNotes; ++i) {
        askers.emplace_back([&, i] {
            const Json arguments =
                Json::object().set("text", "note number " + std::to_string(i) + " of many");
            desk.bench.desk->call_tool("add_note", arguments.dump(), [&](Desk::ToolAnswer answer) {
                written += answer.result ? 1 : 0;
                ++answered;
            });
        });
    }
    for (std::thread& asker : askers) {
        asker.join();
    }
    desk.bench.settle();
    CHECK(answered == kNotes);
    CHECK(written == kNotes);
    const std::string notes = desk.bench.folder.read("workspace/main/notes/2026-10-19.md");
    for (int i = 0; i < kNotes; ++i) {
        const std::string text = "note number " + std::to_string(i) + " of many";
        CHECK(notes.find(text) != std::string::npos);
    }
    CHECK(desk.bench.records("note_written").size() == kNotes);
}
