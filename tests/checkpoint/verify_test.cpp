// What `daybook checkpoint verify` sees: nothing in a sound repository, and each kind of damage by
// name.
#include "host/checkpoint/verify.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "host/checkpoint/pack_file.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

struct Verified : Desk {
    explicit Verified(CheckpointForm form_in = form_of_tests()) : Desk(form_in) {
        put("Memory.md", "# Memory\n");
        put("notes/2026-10-19.md", "- a\n");
        must(open());
        must(write("notes/2026-10-19.md", "- a\n- b\n"));
        must(write("memory/x.md", "x\n"));
    }
    static void must(const Result<>& done) {
        if (!done) {
            throw std::runtime_error(done.error().message());
        }
    }
    static void must(const Result<Checkpoint>& done) {
        if (!done) {
            throw std::runtime_error(done.error().message());
        }
    }
    VerifyReport look() { return test::must(verify_checkpoints(os, {folder, repository})); }
    /// The object of a file in the newest commit, as a path.
    [[nodiscard]] fs::path object_of(const std::string& revision) const {
        std::string id = git("rev-parse " + revision).output;
        id.resize(40);
        return repository / "objects" / id.substr(0, 2) / id.substr(2);
    }
};

bool mentions(const VerifyReport& report, const std::string& text) {
    return std::any_of(
        report.findings.begin(), report.findings.end(), [&](const VerifyFinding& finding) {
            return finding.what.find(text) != std::string::npos && !finding.todo.empty();
        });
}

bool notes(const VerifyReport& report, const std::string& text) {
    return std::any_of(report.notes.begin(), report.notes.end(), [&](const std::string& note) {
        return note.find(text) != std::string::npos;
    });
}

void overwrite(const fs::path& file, std::streamoff at, const std::string& bytes) {
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(at);
    out << bytes;
}

}  // namespace

TEST_CASE("a sound repository is found sound, loose and packed, while it is open",
          "[checkpoint][plain]") {
    Verified desk(CheckpointForm::plain);
    const VerifyReport loose = desk.look();
    CHECK(loose.findings.empty());
    CHECK(loose.notes.empty());
    CHECK(loose.newest == "c-3");
    CHECK(loose.checkpoints == 3);
    CHECK(loose.commits == 5);
    CHECK(loose.packs == 0);
    REQUIRE(desk.git("gc -q --prune=now").code == 0);
    const VerifyReport packed = desk.look();
    CHECK(packed.findings.empty());
    CHECK(packed.packs == 1);
    CHECK(packed.packed == loose.loose);
    CHECK(packed.loose == 0);
    desk.put("Memory.md", "edited\n");
    desk.put("memory/new.md", "new\n");
    fs::remove(desk.folder / "memory/x.md");
    const VerifyReport edited = desk.look();
    CHECK(edited.findings.empty());
    CHECK(notes(edited, "Memory.md differs"));
    CHECK(notes(edited, "memory/new.md is new"));
    CHECK(notes(edited, "memory/x.md is gone"));
}

TEST_CASE("each kind of damage to an object is named with what needs it", "[checkpoint][plain]") {
    Verified desk(CheckpointForm::plain);
    SECTION("a blob that a power cut emptied") {
        const fs::path object = desk.object_of("HEAD:notes/2026-10-19.md");
        fs::remove(object);
        std::ofstream(object).close();
        const VerifyReport report = desk.look();
        CHECK(mentions(report, "objects/" + object.parent_path().filename().string()));
        CHECK(mentions(report, "the content of notes/2026-10-19.md"));
    }
    SECTION("a blob of an old checkpoint is gone") {
        fs::remove(desk.object_of("HEAD~4:notes/2026-10-19.md"));
        CHECK(mentions(desk.look(), "c-2: the content of notes/2026-10-19.md"));
    }
    SECTION("a tree is gone") {
        fs::remove(desk.object_of("HEAD:memory"));
        CHECK(mentions(desk.look(), "the tree of \"memory\""));
    }
    SECTION("a commit is gone") {
        fs::remove(desk.object_of("HEAD~2"));
        const VerifyReport report = desk.look();
        CHECK(mentions(report, "what is before it neither"));
        CHECK(report.commits == 2);
    }
    SECTION("an object with another object's content") {
        const fs::path one = desk.object_of("HEAD:Memory.md");
        const fs::path other = desk.object_of("HEAD:memory/x.md");
        fs::copy_file(other, one, fs::copy_options::overwrite_existing);
        CHECK(mentions(desk.look(), one.filename().string() + " is damaged"));
    }
}

TEST_CASE("damage to a pack, its index, the tip or the ref is named", "[checkpoint][plain]") {
    Verified desk(CheckpointForm::plain);
    SECTION("packs") {
        REQUIRE(desk.git("gc -q --prune=now").code == 0);
        fs::path pack, index;
        for (const auto& entry : fs::directory_iterator(desk.repository / "objects/pack")) {
            if (entry.path().extension() == ".pack") {
                pack = entry.path();
            } else if (entry.path().extension() == ".idx") {
                index = entry.path();
            }
        }
        REQUIRE(!pack.empty());
        SECTION("a byte of an object") {
            overwrite(pack, static_cast<std::streamoff>(fs::file_size(pack) / 2), "\x7f\x01");
            CHECK(mentions(desk.look(), pack.filename().string()));
        }
        SECTION("the index") {
            overwrite(index, 0, "xxxx");
            CHECK(mentions(desk.look(), index.filename().string()));
        }
    }
    SECTION("the tip") {
        std::ofstream(desk.repository / "daybook.tip") << "\n";
        const VerifyReport report = desk.look();
        CHECK(mentions(report, "daybook.tip names no commit"));
        CHECK(report.newest == "c-3");
    }
    SECTION("the ref") {
        fs::remove(desk.repository / "refs/heads/checkpoints");
        CHECK(mentions(desk.look(), "refs/heads/checkpoints names no commit"));
    }
    SECTION("the ref of another history") {
        std::ofstream(desk.repository / "refs/heads/checkpoints") << std::string(40, 'a') << "\n";
        CHECK(mentions(desk.look(), "not in the chain"));
    }
    SECTION("HEAD") {
        std::ofstream(desk.repository / "HEAD") << "nothing";
        CHECK(mentions(desk.look(), "HEAD"));
    }
}

TEST_CASE("a desk without a repository is said to have none, a missing desk is an error",
          "[checkpoint]") {
    const Desk desk;
    LinuxOs os;
    const auto fresh = must(verify_checkpoints(os, {desk.folder, desk.repository}));
    CHECK(fresh.findings.empty());
    CHECK(notes(fresh, "no repository yet"));
    CHECK(verify_checkpoints(os, {desk.home / "nowhere", desk.repository}).error().code() ==
          Errc::not_found);
}

TEST_CASE("an index that lies about its length is refused", "[checkpoint]") {
    std::string index("\377tOc\0\0\0\2", 8);
    index += std::string(255UL * 4, '\0') + std::string("\xff\xff\xff\xff", 4);
    CHECK(ids_of_pack_index(index).error().code() == Errc::corrupt);
    CHECK(ids_of_pack_index(index.substr(0, 40)).error().code() == Errc::corrupt);
    CHECK(ids_of_pack_index("").error().code() == Errc::corrupt);
    index.replace(8 + 255UL * 4, 4, std::string("\0\0\0\1", 4));
    index += std::string(20, 'a');
    CHECK(must(ids_of_pack_index(index)).front().hex() ==
          "6161616161616161616161616161616161616161");
}
