// Profile scratch: an index works in the plugin's own folder, and nothing else may be written.
#include <cerrno>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "host/format/json.hpp"
#include "host/plugin/scratch_folder.hpp"
#include "tests/plugin/fixture_plugins.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

/// The fixture `indexer` in its folder, as a desk runs it.
struct Indexer {
    Bench bench;
    Fixtures plugins{bench, {"indexer"}};
    ScratchFolder folder;
    std::unique_ptr<Caller> caller;

    explicit Indexer(ScratchBounds bounds = {}, int landlock_cap = 0)
        : folder(bench.folder / "state", "indexer", "main", bounds) {
        RunnerSettings settings = plugins.settings();
        settings.scratch_dir = folder.path();
        settings.scratch_max_bytes = bounds.max_bytes;
        settings.landlock_cap = landlock_cap;
        settings.before_start = [this]() -> Result<> {
            auto said = folder.prepare();
            return said ? Result<>() : Result<>(said.error());
        };
        caller = std::make_unique<Caller>(
            bench, *plugins.registry->find("indexer"), std::move(settings));
        caller->verbs = ScriptedVerbs([this](Leash&,
                                             std::string_view verb,
                                             const std::vector<std::string>&,
                                             CallOutcome&) -> Result<std::string> {
            REQUIRE(verb == "scratch/1.folder");
            auto bytes = folder.measure();
            if (!bytes) {
                return bytes.error();
            }
            return Json::object()
                .set("path", folder.path().string())
                .set("bytes", static_cast<std::int64_t>(*bytes))
                .set("max_bytes", static_cast<std::int64_t>(folder.bounds().max_bytes))
                .dump();
        });
    }
    Json call(const std::string& tool, const Json& arguments) {
        const CallOutcome outcome = caller->call(tool, arguments.dump());
        INFO((outcome.result ? "" : outcome.result.error().message()));
        REQUIRE(outcome.result);
        return must(Json::parse(*outcome.result));
    }
};

constexpr ScratchBounds small(std::uint64_t bytes) {
    ScratchBounds bounds;
    bounds.max_bytes = bytes;
    return bounds;
}

}  // namespace

TEST_CASE("an FTS index with a write-ahead log works in the scratch folder", "[plugin]") {
    for (const int cap : {0, 2, 1}) {
        Indexer indexer({}, cap);
        const Json built = indexer.call("build", Json::object({{"rows", 3000}}));
        INFO("Landlock cap " << cap << ": " << built.dump());
        CHECK(built["found"].as_string() == "3000");
        CHECK(built["mode"].as_string() == "wal");
        CHECK(fs::exists(indexer.folder.path() / "index.db"));
    }
}

TEST_CASE("a runner of profile scratch writes nowhere but in its folder", "[plugin]") {
    for (const int cap : {0, 2, 1}) {
        Indexer indexer({}, cap);
        indexer.call("build", Json::object({{"rows", 1}}));
        const fs::path state = indexer.bench.folder / "state";
        fs::create_directories(state / "scratch/indexer/other");
        fs::create_directories(state / "scratch/search/main");
        indexer.bench.folder.write("desk/Memory.md", "- a fact\n");
        std::ofstream(state / "scratch/indexer/other/index.db") << "theirs";
        for (const fs::path& path : {indexer.bench.folder / "desk/Memory.md",
                                     state / "scratch/indexer/other/index.db",
                                     state / "scratch/indexer/other/new",
                                     state / "scratch/search/main/new",
                                     state / "scratch/indexer/new",
                                     fs::path("/tmp/daybook-scratch-test")}) {
            INFO("cap " << cap << ", " << path);
            const Json tried = indexer.call("try_write", Json::object({{"path", path.string()}}));
            for (const char* act : {"open", "truncate", "mkdir", "unlink", "rename"}) {
                INFO(act);
                CHECK(tried[act].as_integer() != 0);
            }
            CHECK_FALSE(fs::exists(path.string() + ".d"));
        }
        CHECK(fs::file_size(indexer.bench.folder / "desk/Memory.md") == 9);
        CHECK(fs::file_size(state / "scratch/indexer/other/index.db") == 6);

        const Json inside = indexer.call(
            "try_write", Json::object({{"path", (indexer.folder.path() / "own").string()}}));
        CHECK(inside["open"].as_integer() == 0);
        CHECK(inside["mkdir"].as_integer() == 0);
        CHECK(inside["unlink"].as_integer() == 0);
        CHECK(inside["truncate"].as_integer() == EROFS);  // truncation through a read-only open
    }
}

TEST_CASE("links, special modes and nameless files are refused in the scratch folder", "[plugin]") {
    Indexer indexer;
    indexer.bench.folder.write("desk/Memory.md", "- a fact\n");
    const Json tried = indexer.call(
        "try_odd", Json::object({{"target", (indexer.bench.folder / "desk/Memory.md").string()}}));
    for (const char* act : {"symlink", "link", "setuid", "nameless", "chmod", "fifo"}) {
        INFO(act);
        CHECK(tried[act].as_integer() != 0);
    }
    CHECK(fs::is_empty(indexer.folder.path()));
}

TEST_CASE("a link that somebody put into the scratch folder keeps the plugin from starting",
          "[plugin]") {
    Indexer indexer;
    indexer.bench.folder.write("desk/Memory.md", "- a fact\n");
    REQUIRE(indexer.folder.prepare());
    fs::create_hard_link(indexer.bench.folder / "desk/Memory.md",
                         indexer.folder.path() / "index.db");
    fs::create_symlink("/etc", indexer.folder.path() / "way");
    const CallOutcome refused = indexer.caller->call("build", "{}");
    REQUIRE_FALSE(refused.result);
    CHECK(refused.result.error().code() == Errc::refused);
    CHECK_THAT(refused.result.error().message(),
               Contains("index.db (hard link)") && Contains("way (symbolic link)"));
    CHECK_THAT(indexer.caller->runner.status().reason, Contains("index.db (hard link)"));

    fs::remove(indexer.folder.path() / "index.db");
    fs::remove(indexer.folder.path() / "way");
    CHECK(indexer.call("build", Json::object({{"rows", 1}}))["found"].as_string() == "1");
}

TEST_CASE("a file at its bound ends in an error for the plugin, not in its end", "[plugin]") {
    Indexer indexer(small(1UL << 20U));
    CHECK(indexer.call("grow", Json::object({{"bytes", 8 << 20}}))["errno"].as_integer() == EFBIG);
}

TEST_CASE("a folder over its bound ends the call, and is emptied before the next start",
          "[plugin]") {
    Indexer indexer(small(1UL << 20U));
    REQUIRE(indexer.folder.prepare());
    indexer.call("build", Json::object({{"rows", 1}}));
    // What the bound of a single file does not hold: a second one beside it.
    std::ofstream(indexer.folder.path() / "second") << std::string(900 * 1024, 'y');
    CallWatch watch;
    watch.inspect = [&] { return indexer.folder.check(); };
    const CallOutcome ended = indexer.caller->call(
        "grow", Json::object({{"bytes", 400 * 1024}, {"wait", true}}).dump(), 10s, watch);
    REQUIRE_FALSE(ended.result);
    CHECK(ended.result.error().code() == Errc::full);
    CHECK_THAT(ended.result.error().message(), Contains("over its bound of 1048576 bytes"));

    const CallOutcome again = indexer.caller->call("build", R"({"rows":2})");
    REQUIRE(again.result);
    CHECK_FALSE(fs::exists(indexer.folder.path() / "second"));
    CHECK_THAT(*again.result, Contains(R"("found":"2")"));
}

TEST_CASE("without Landlock or without walls profile scratch does not start", "[plugin]") {
    Indexer indexer;
    for (const Isolation isolation : {Isolation::off, Isolation::seccomp_only}) {
        RunnerSettings settings = indexer.plugins.settings();
        REQUIRE(indexer.folder.prepare());
        settings.scratch_dir = indexer.folder.path();
        settings.scratch_max_bytes = 1 << 20;
        settings.isolation = isolation;
        Caller caller(indexer.bench, *indexer.plugins.registry->find("indexer"), settings);
        caller.verbs = indexer.caller->verbs;
        const CallOutcome outcome = caller.call("build", R"({"rows":1})");
        if (isolation == Isolation::off) {
            REQUIRE_FALSE(outcome.result);
            CHECK(outcome.result.error().code() == Errc::refused);
            CHECK_THAT(outcome.result.error().message(),
                       Contains("profile scratch is not served without walls"));
        } else {
            // This kernel has Landlock, so the walls stand although the owner would do without it.
            INFO((outcome.result ? "" : outcome.result.error().message()));
            CHECK(outcome.result);
        }
    }
}

TEST_CASE("a scratch folder that is a link or a file is refused", "[plugin]") {
    TempFolder state;
    fs::create_directories(state / "elsewhere");
    fs::create_symlink(state / "elsewhere", state / "scratch");
    ScratchFolder folder(state.path(), "indexer", "main", {});
    const auto refused = folder.prepare();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::refused);
    CHECK(fs::is_empty(state / "elsewhere"));
}

TEST_CASE("too many files count as full", "[plugin]") {
    TempFolder state;
    ScratchBounds bounds;
    bounds.max_files = 3;
    ScratchFolder folder(state.path(), "indexer", "main", bounds);
    REQUIRE(folder.prepare());
    for (const char* name : {"a", "b", "c", "d"}) {
        std::ofstream(folder.path() / name) << "x";
    }
    REQUIRE_FALSE(folder.measure());
    CHECK_THAT(folder.measure().error().message(), Contains("more than 3 files"));
    ScratchBounds reserve;
    reserve.reserve_bytes = UINT64_MAX;
    CHECK(ScratchFolder(state.path(), "indexer", "main", reserve).check().error().code() ==
          Errc::full);
}
