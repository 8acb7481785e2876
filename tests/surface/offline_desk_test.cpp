// A desk without a host is recovered before anything else is done with it.
#include <algorithm>

#include "host/surface/offline_edits.hpp"
#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

const std::string kFile = "memory/a.md";

/// Its host wrote `kFile`, said so, and the power went: the rename was not on the disk yet, so the
/// very file that it had replaced stands there again.
struct CutOff : GatedDesk {
    CutOff() : GatedDesk(CheckpointForm::journalled) {
        home.write("format", "1\n");
        put(kFile, "base\n");
        die_in([this] {
            (void)gate->read(shown, path_of(kFile));
            if (!replace(kFile, "acknowledged\n")) {
                ::_exit(1);
            }
        });
        for (const auto& entry : fs::directory_iterator(repository / "trash")) {
            if (entry.path().filename().string().starts_with("r")) {
                fs::rename(entry.path(), folder / kFile);
            }
        }
    }
    [[nodiscard]] Places where() const {
        Places places;
        places.state = home.path();
        places.config = home / "daybook.toml";
        return places;
    }
    [[nodiscard]] bool has_edit() const {
        const auto all = must(store->list(50));
        return std::any_of(
            all.begin(), all.end(), [](const Checkpoint& each) { return each.kind == "edited"; });
    }
};

}  // namespace

TEST_CASE("without a host a write that a power cut took is done again, not taken for an edit",
          "[surface]") {
    CutOff desk;
    REQUIRE(desk.get(kFile) == "base\n");
    const std::string reason = GENERATE("", "before an edit");
    const Json answer = must(note_edits_offline(desk.where(), desk.os, "main", reason));
    CHECK(desk.get(kFile) == "acknowledged\n");
    CHECK(answer["checkpoint"].as_string() == (reason.empty() ? "" : "c-3"));
    REQUIRE(desk.start());
    CHECK_FALSE(desk.has_edit());
    CHECK(must(desk.store->find("c-2")).written_commit.size() == 40);
    CHECK(desk.records("file_written").size() == 1);
    CHECK(desk.fsck() == "");
}

TEST_CASE("without a host nothing is recorded in a home that another holds, or that is none",
          "[surface]") {
    CutOff desk;
    UniqueFd lock = must(desk.os.open_root(desk.home.path()));
    REQUIRE(desk.os.make_directory(lock.get(), "run", 0700));
    UniqueFd held = must(desk.os.open_beneath(lock.get(), "run/host.lock", OpenMode::lock, 0600));
    REQUIRE(desk.os.lock(held.get()));
    CHECK(note_edits_offline(desk.where(), desk.os, "main", "").error().code() == Errc::busy);
    CHECK(desk.get(kFile) == "base\n");
    fs::remove(desk.home / "format");
    CHECK(note_edits_offline(desk.where(), desk.os, "main", "").error().code() == Errc::not_found);
}
