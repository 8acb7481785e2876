// Packs of our own making: read back by the git library and by plain git, and never live when they
// are wrong.
#include "host/checkpoint/pack_encoder.hpp"

#include <cstdlib>
#include <random>
#include <sstream>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/pack_file.hpp"
#include "host/checkpoint/pack_merge.hpp"
#include "host/checkpoint/pack_writer.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

/// A bare repository with a history of our own objects in it, all of them loose.
struct Packs {
    Desk desk;
    UniqueFd repository, objects_fd;
    std::unique_ptr<GitObjects> objects;
    std::map<GitId, GitObject> all;
    std::vector<std::vector<GitId>> of_commit;
    std::optional<GitId> tip;
    std::mt19937 random{11};

    Packs() {
        must(desk.open());
        desk.store.reset();
        repository = must(desk.os.open_root(desk.repository));
        objects_fd = must(desk.os.open_root(desk.repository / "objects"));
        objects = must(GitObjects::open(desk.os, desk.repository / "objects", objects_fd.get()));
    }

    [[nodiscard]] PackPlace place(DeltaEncoder delta = encode_delta) const {
        return {desk.repository, repository.get(), delta};
    }

    GitId put(GitType type, const std::string& bytes) {
        const GitId id = GitObjects::id_of(type, bytes);
        must(objects->write_unsynced(id, type, bytes));
        if (all.emplace(id, GitObject{type, bytes}).second) {
            of_commit.back().push_back(id);
        }
        return id;
    }

    /// A commit of a desk with that note and a few files beside it.
    void commit(const std::string& note, const std::string& large) {
        of_commit.emplace_back();
        const GitId notes = put(GitType::tree,
                                encode_tree({{"2026-10-19.md", kModeFile, put(GitType::blob, note)},
                                             {"empty", kModeFile, put(GitType::blob, "")}}));
        CommitRecord record;
        record.tree =
            put(GitType::tree,
                encode_tree({{"notes", kModeFolder, notes},
                             {"large.bin", kModeFile, put(GitType::blob, large)},
                             {"run.sh", kModeProgram, put(GitType::blob, "#!/bin/sh\n")},
                             {"to", kModeLink, put(GitType::blob, "notes/2026-10-19.md")}}));
        record.parent = tip;
        record.number = of_commit.size();
        record.subject = "write notes/2026-10-19.md";
        record.kind = "write";
        tip = put(GitType::commit, record.encode());
    }

    /// `count` commits of a note that grows and, now and then, another large file.
    void grow(int count) {
        std::string note = "# 2026-10-19\n";
        std::string large(300'000, '\0');
        for (char& byte : large) {
            byte = static_cast<char>(random());
        }
        for (int i = 0; i < count; ++i) {
            note +=
                "learned " + std::to_string(random()) + " of " + std::to_string(random()) + "\n";
            if (i % 16 == 1) {
                large.insert(random() % large.size(), "a piece more");
            }
            commit(note, large);
        }
        const Ran ran = desk.git_now("update-ref refs/heads/main " + tip->hex());
        REQUIRE(ran.output == "");
    }

    std::string write(const std::vector<GitId>& ids, DeltaEncoder delta = encode_delta) {
        bool sync_failed = false;
        const std::string name = must(write_pack(desk.os, place(delta), ids, &sync_failed));
        for (const GitId& id : ids) {
            must(objects->remove_loose(id));
        }
        must(objects->refresh());
        return name;
    }

    [[nodiscard]] std::vector<GitId> every() const {
        std::vector<GitId> ids;
        for (const auto& [id, object] : all) {
            ids.push_back(id);
        }
        return ids;
    }

    /// "" when everything is there as it was and plain git has nothing to say.
    [[nodiscard]] std::string trouble() {
        must(objects->refresh());
        for (const auto& [id, object] : all) {
            const auto read = objects->read(id);
            if (!read || read->type != object.type || read->bytes != object.bytes) {
                return id.hex() + " is not what it was";
            }
        }
        if (const Ran log = desk.git_now("log -p --stat refs/heads/main"); log.code != 0) {
            return log.output;
        }
        const Ran left = run("ls '" + (desk.repository / kNewPackFolder).string() + "'");
        return desk.fsck() + left.output;
    }

    struct Shape {
        int deltas = 0, whole = 0, deepest = 0;
    };
    /// As `git verify-pack -v` tells it.
    [[nodiscard]] Shape shape_of(const std::string& name) const {
        const Ran ran = desk.git_now("verify-pack -v '" +
                                     (desk.repository / "objects/pack" / name).string() + ".idx'");
        REQUIRE(ran.code == 0);
        Shape shape;
        std::istringstream lines(ran.output);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string id, type, size, room, offset;
            int depth = 0;
            words >> id >> type >> size >> room >> offset;
            if (id.size() != 40) {
                continue;
            }
            words >> depth ? ++shape.deltas : ++shape.whole;
            shape.deepest = std::max(shape.deepest, depth);
        }
        return shape;
    }
    [[nodiscard]] std::uintmax_t bytes_of_packs() const {
        std::uintmax_t bytes = 0;
        for (const auto& file :
             std::filesystem::directory_iterator(desk.repository / "objects/pack")) {
            bytes += file.path().extension() == ".pack" ? file.file_size() : 0;
        }
        return bytes;
    }
};

int growth() {
    const char* wish = std::getenv("DAYBOOK_GROWTH");
    return wish != nullptr ? std::atoi(wish) : 300;
}

/// A sound delta of another content.
std::string other_content(std::string_view base, std::string_view target) {
    std::string other(target);
    if (!other.empty()) {
        other.back() = static_cast<char>(other.back() ^ 1);
    }
    return encode_delta(base, other);
}

std::string no_delta(std::string_view, std::string_view) {
    return "\x7f";
}

}  // namespace

TEST_CASE("a pack of every kind of object is read back by the library and by plain git",
          "[checkpoint]") {
    Packs packs;
    packs.grow(120);
    packs.of_commit.emplace_back();
    packs.put(GitType::blob, "of no commit");
    const Ran tagged =
        packs.desk.git_now("-c user.name=a -c user.email=b tag -a -m kept v1 && git --git-dir '" +
                           packs.desk.repository.string() + "' rev-parse v1");
    REQUIRE(tagged.code == 0);
    auto ids = packs.every();
    ids.push_back(GitId::from_hex(tagged.output.substr(0, 40)).value());
    const std::string name = packs.write(ids);
    CHECK(packs.trouble() == "");
    const auto shape = packs.shape_of(name);
    CHECK(shape.deltas + shape.whole == static_cast<int>(ids.size()));
    CHECK(shape.deltas > shape.whole * 10);
    // A file that changes 120 times is a chain of more than fifty: cut, without a second whole one.
    CHECK(shape.deepest == static_cast<int>(PackEncoder::kMostDeltas));
    CHECK(shape.whole < 15);
    CHECK(packs.desk.git_now("cat-file tag v1").output.find("kept") != std::string::npos);
}

TEST_CASE("a pack with a wrong difference in it never goes live", "[checkpoint]") {
    for (const DeltaEncoder wrong : {other_content, no_delta}) {
        Packs packs;
        packs.grow(12);
        packs.write(packs.every(), wrong);
        CHECK(packs.trouble() == "");
    }
}

TEST_CASE("a pack is not made when an object is missing or broken", "[checkpoint]") {
    Packs packs;
    packs.grow(3);
    auto ids = packs.every();
    const auto before = packs.bytes_of_packs();
    bool sync_failed = false;
    SECTION("missing") {
        ids.push_back(GitObjects::id_of(GitType::blob, "nowhere"));
    }
    SECTION("broken") {
        const std::string hex = ids.front().hex();
        const auto file = packs.desk.repository / "objects" / hex.substr(0, 2) / hex.substr(2);
        std::filesystem::remove(file);
        std::ofstream(file) << "nonsense";
    }
    const auto made = write_pack(packs.desk.os, packs.place(), ids, &sync_failed);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == Errc::corrupt);
    CHECK(packs.bytes_of_packs() == before);
}

TEST_CASE("packs with differences in them are merged into a smaller one", "[checkpoint]") {
    Packs packs;
    packs.grow(60);
    for (std::size_t i = 0; i < packs.of_commit.size(); i += 3) {
        std::vector<GitId> ids;
        for (std::size_t j = i; j < i + 3; ++j) {
            ids.insert(ids.end(), packs.of_commit[j].begin(), packs.of_commit[j].end());
        }
        packs.write(ids);
    }
    REQUIRE(packs.trouble() == "");
    const auto before = packs.bytes_of_packs();
    bool sync_failed = false;
    CHECK(must(merge_packs(packs.desk.os, packs.place(), &sync_failed)));
    CHECK(packs.trouble() == "");
    CHECK(packs.bytes_of_packs() < before);
    // The merged one is the largest.
    std::filesystem::path largest;
    for (const auto& file :
         std::filesystem::directory_iterator(packs.desk.repository / "objects/pack")) {
        if (file.path().extension() == ".pack" &&
            (largest.empty() || file.file_size() > std::filesystem::file_size(largest))) {
            largest = file.path();
        }
    }
    const std::string name = largest.stem();
    CHECK(packs.shape_of(name).deltas > 0);
}

TEST_CASE("a growing desk takes little room for each checkpoint", "[checkpoint]") {
    const int count = growth();
    Desk desk;
    desk.form = CheckpointForm::journalled;
    must(desk.open());
    std::string note = "# 2026-10-19\n";
    std::mt19937 random(5);
    for (int i = 0; i < count; ++i) {
        note = i % 40 == 39 ? "# a new day\n" : note;
        note += "learned " + std::to_string(random()) + " from " + std::to_string(random()) + "\n";
        must(desk.write("notes/2026-10-" + std::to_string(10 + i / 40 % 20) + ".md", note));
    }
    desk.store.reset();
    CHECK(desk.fsck() == "");
    std::uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(
             count < 3000 ? desk.repository / "objects" : desk.repository)) {
        bytes += file.is_regular_file() ? file.file_size() : 0;
    }
    INFO(bytes << " bytes of " << count << " checkpoints");
    CHECK(bytes / static_cast<std::uintmax_t>(count) < 640);
}
