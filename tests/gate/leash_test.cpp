#include "host/gate/leash.hpp"

#include "tests/catch.hpp"

using namespace daybook;

namespace {

DeskDate day() {
    return *DeskDate::parse("2026-10-19");
}

DeskPath path(std::string_view text) {
    return *DeskPath::parse(text);
}

SteadyTime later() {
    return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

ToolManifest add_note() {
    ToolManifest tool;
    tool.name = "add_note";
    tool.writes = WritesRule{"notes/{day}.md", "", kAppend};
    tool.groups = {"daybook.desk-files/1"};
    return tool;
}

ToolManifest write_file() {
    ToolManifest tool;
    tool.name = "write_file";
    tool.writes = WritesRule{"", "path", kReplace | kEdit};
    return tool;
}

Json with_path(std::string_view text) {
    return Json::object({{"path", Json(text)}});
}

}  // namespace

TEST_CASE("each kind of turn allows what the table says and nothing else", "[gate]") {
    struct Row {
        TurnKind kind;
        unsigned notes, memory_file, memory, skills;
        bool external;
    };
    constexpr unsigned kAll = kAppend | kReplace | kEdit;
    const Row rows[] = {
        {TurnKind::message, kAppend, kAll, kAll, kAll, true},
        {TurnKind::owner_call, kAppend, kAll, kAll, kAll, true},
        {TurnKind::job, kAppend, 0, kAll, kAll, true},
        {TurnKind::fill, kAppend, 0, kAll, kAll, true},
        {TurnKind::alert, kAppend, 0, 0, 0, true},
        {TurnKind::note_worker, kAppend, 0, 0, 0, false},
        {TurnKind::flush, kAppend, kEdit, 0, 0, false},
        {TurnKind::summary, 0, 0, 0, 0, false},
        {TurnKind::fold, 0, 0, 0, 0, false},
        {TurnKind::curator, 0, 0, kAll, kAll, false},
    };
    for (const Row& row : rows) {
        INFO(name_of(row.kind));
        const auto allowance = TurnAllowance::of(row.kind, day());
        CHECK(allowance.operations_on(path("notes/2026-10-19.md")) == row.notes);
        CHECK(allowance.operations_on(path("Memory.md")) == row.memory_file);
        CHECK(allowance.operations_on(path("memory/rules/gap.md")) == row.memory);
        CHECK(allowance.operations_on(path("skills/gap/SKILL.md")) == row.skills);
        CHECK(allowance.operations_on(path("notes/2026-10-18.md")) == 0);
        CHECK(allowance.operations_on(path("owner.txt")) == 0);
        CHECK(allowance.operations_on(path("memory.md")) == 0);
        CHECK(((allowance.groups() & kExternalGroups) != 0) == row.external);
        CHECK(is_quiet(row.kind) != row.external);
    }
    CHECK(TurnAllowance::of(TurnKind::message, day()).notes_left == 3);
    CHECK(TurnAllowance::of(TurnKind::message, day()).skips_meters);
    CHECK(TurnAllowance::of(TurnKind::job, day()).notes_left < 0);
    CHECK_FALSE(TurnAllowance::of(TurnKind::job, day()).skips_meters);
    CHECK(TurnAllowance::of(TurnKind::message, day()).describe() ==
          "notes/2026-10-19.md (append), Memory.md, memory/**, skills/**");
}

TEST_CASE("a call's leash names one file, exactly, from the manifest and the day", "[gate]") {
    const auto allowance = TurnAllowance::of(TurnKind::message, day());
    const auto leash = derive_leash(allowance, add_note(), kAllGroups, Json::object(), later());
    REQUIRE(leash);
    REQUIRE(leash->file);
    CHECK(leash->file->path.str() == "notes/2026-10-19.md");
    CHECK(leash->file->operations == kAppend);
    CHECK(leash->groups == kDeskFiles);
    CHECK_FALSE(leash->is_external());

    const auto by_argument = derive_leash(
        allowance, write_file(), kDeskFiles | kClock, with_path("memory/a.md"), later());
    REQUIRE(by_argument);
    CHECK(by_argument->file->path.str() == "memory/a.md");
    CHECK(by_argument->file->operations == (kReplace | kEdit));
    CHECK(by_argument->groups == (kDeskFiles | kClock));

    ToolManifest reader;
    reader.name = "read_file";
    const auto reads = derive_leash(allowance, reader, kDeskFiles, with_path("Memory.md"), later());
    REQUIRE(reads);
    CHECK_FALSE(reads->file);
    CHECK(reads->writes_left == 0);
}

TEST_CASE(
    "a path argument that is no desk path, or not the turn's to write, is refused before the call",
    "[gate]") {
    const auto allowance = TurnAllowance::of(TurnKind::message, day());
    for (const char* bad :
         {"../Memory.md", "/etc/passwd", "memory/../../x", "", "memory//a", "memory/.git/config"}) {
        INFO(bad);
        const auto leash =
            derive_leash(allowance, write_file(), kDeskFiles, with_path(bad), later());
        REQUIRE_FALSE(leash);
        CHECK(leash.error().code() == Errc::invalid);
    }
    CHECK(
        derive_leash(allowance, write_file(), kDeskFiles, Json::object(), later()).error().code() ==
        Errc::invalid);
    const auto notes = derive_leash(
        allowance, write_file(), kDeskFiles, with_path("notes/2026-10-19.md"), later());
    REQUIRE_FALSE(notes);
    CHECK(notes.error().code() == Errc::refused);
    const auto others =
        derive_leash(allowance, write_file(), kDeskFiles, with_path("owner.txt"), later());
    REQUIRE_FALSE(others);
    CHECK(others.error().message() ==
          "write owner.txt: a message turn allows notes/2026-10-19.md (append), Memory.md, "
          "memory/**, skills/** only");
}

TEST_CASE("a quiet turn's call keeps no group with effects outside, and only its tools", "[gate]") {
    const auto flush = TurnAllowance::of(TurnKind::flush, day());
    ToolManifest tool = add_note();
    tool.groups.clear();
    const auto leash = derive_leash(flush, tool, kAllGroups, Json::object(), later());
    REQUIRE(leash);
    CHECK((leash->groups & kExternalGroups) == 0);
    CHECK(check_group(*leash, kHttp, std::chrono::steady_clock::now()).error().code() ==
          Errc::refused);
    CHECK(check_group(*leash, kClock, std::chrono::steady_clock::now()));

    const auto refused =
        derive_leash(flush, write_file(), kAllGroups, with_path("Memory.md"), later());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message() == "write_file: a flush turn allows add_note, edit_file only");
    CHECK_FALSE(TurnAllowance::of(TurnKind::summary, day()).allows_tool("add_note"));
    CHECK(TurnAllowance::of(TurnKind::fold, day()).allows_tool("propose_facts"));
    CHECK_FALSE(TurnAllowance::of(TurnKind::fold, day()).allows_tool("add_note"));
}

TEST_CASE("a tool's effect follows from its verbs and its file, from no label", "[gate]") {
    CHECK(effect_of_tool(add_note(), kAllGroups) == "desk_write");
    CHECK(effect_of_tool(write_file(), kDeskFiles | kClock) == "desk_write");
    ToolManifest tool;
    CHECK(effect_of_tool(tool, kDeskFiles | kClock | kHistory | kScratch | kTools) == "read");
    for (const unsigned group : {kHttp, kProcess, kJournal, kTriggers}) {
        CHECK(effect_of_tool(tool, kDeskFiles | group) == "external");
        CHECK(effect_of_tool(write_file(), group) == "external");
    }
    // A group that the plugin was not given counts for nothing.
    tool.groups = {"daybook.http/1"};
    CHECK(effect_of_tool(tool, kDeskFiles) == "read");
}

TEST_CASE("a refusal names the file, the rule and what was allowed", "[gate]") {
    Leash leash = *derive_leash(TurnAllowance::of(TurnKind::message, day()),
                                add_note(),
                                kAllGroups,
                                Json::object(),
                                later());
    const auto now = std::chrono::steady_clock::now();
    CHECK(check_write(leash, path("Memory.md"), kAppend, 1, now).error().message() ==
          "write Memory.md: leash allows notes/2026-10-19.md only");
    CHECK(check_write(leash, path("notes/2026-10-19.md"), kReplace, 1, now).error().message() ==
          "write notes/2026-10-19.md: leash allows append only, not replace");
    CHECK(check_write(leash, path("notes/2026-10-19.md"), kAppend, 1, now));
    leash.bytes_left = 10;
    CHECK(check_write(leash, path("notes/2026-10-19.md"), kAppend, 11, now).error().message() ==
          "write notes/2026-10-19.md: leash allows 10 more bytes, not 11");
    leash.writes_left = 0;
    CHECK(check_write(leash, path("notes/2026-10-19.md"), kAppend, 1, now).error().code() ==
          Errc::refused);
    leash.writes_left = 1;
    CHECK(check_write(leash, path("notes/2026-10-19.md"), kAppend, 1, leash.deadline)
              .error()
              .code() == Errc::deadline);
    leash.groups = kClock;
    CHECK(check_write(leash, path("notes/2026-10-19.md"), kAppend, 1, now).error().code() ==
          Errc::refused);
    leash.file.reset();
    CHECK(check_write(leash, path("Memory.md"), kAppend, 1, now).error().message() ==
          "write Memory.md: leash allows no file");
    CHECK(leash.to_json(now)["file"].is_null());
}

TEST_CASE("a nested call's leash is narrower in every part", "[gate]") {
    const auto now = std::chrono::steady_clock::now();
    Leash parent = *derive_leash(TurnAllowance::of(TurnKind::message, day()),
                                 add_note(),
                                 kAllGroups,
                                 Json::object(),
                                 later());
    parent.desk = "main";
    parent.groups = kDeskFiles | kTools | kHttp;
    parent.bytes_left = 100;
    Leash wanted;
    wanted.tool = "inner";
    wanted.groups = kAllGroups;
    wanted.bytes_left = 1 << 20;
    wanted.writes_left = 99;
    wanted.calls_left = 99;
    wanted.deadline = parent.deadline + std::chrono::hours(1);
    wanted.file = FileGrant{path("notes/2026-10-19.md"), kAppend | kReplace};
    auto inner = attenuate(parent, wanted);
    REQUIRE(inner);
    CHECK(inner->groups == parent.groups);
    CHECK(inner->bytes_left == 100);
    CHECK(inner->writes_left == parent.writes_left);
    CHECK(inner->calls_left <= parent.calls_left);
    CHECK(inner->deadline == parent.deadline);
    CHECK(inner->file->operations == kAppend);
    CHECK(inner->depth == 2);
    CHECK(inner->desk == "main");

    charge_write(*inner, 60);
    CHECK(parent.bytes_left == 40);
    inner->bytes_left = 1000;  // whatever the inner one says, the outer one holds
    CHECK(check_write(*inner, path("notes/2026-10-19.md"), kAppend, 41, now).error().code() ==
          Errc::refused);
    CHECK(check_write(*inner, path("notes/2026-10-19.md"), kAppend, 40, now));

    wanted.file = FileGrant{path("Memory.md"), kEdit};
    CHECK(attenuate(parent, wanted).error().code() == Errc::refused);
    wanted.file.reset();
    wanted.desk = "other";
    CHECK(attenuate(parent, wanted).error().code() == Errc::refused);
}

TEST_CASE("calls nest to a depth of four and no further, and calls are counted along the chain",
          "[gate]") {
    Leash first;
    first.tool = "first";
    first.calls_left = 5;
    first.deadline = later();
    Leash wanted;
    wanted.tool = "next";
    wanted.calls_left = 100;
    wanted.deadline = first.deadline;
    auto second = attenuate(first, wanted);
    REQUIRE(second);
    auto third = attenuate(*second, wanted);
    REQUIRE(third);
    auto fourth = attenuate(*third, wanted);
    REQUIRE(fourth);
    CHECK(fourth->depth == kMaxCallDepth);
    CHECK(attenuate(*fourth, wanted).error().code() == Errc::refused);
    CHECK(first.calls_left == 2);
    REQUIRE(attenuate(first, wanted));
    REQUIRE(attenuate(first, wanted));
    CHECK(attenuate(first, wanted).error().code() == Errc::refused);
    CHECK(attenuate(*second, wanted).error().code() == Errc::refused);
}

TEST_CASE("groups have the ids that plugins use", "[gate]") {
    CHECK(group_of("daybook.desk-files/1") == kDeskFiles);
    CHECK(group_of("daybook.triggers/1") == kTriggers);
    CHECK_FALSE(group_of("daybook.desk-files/2"));
    CHECK_FALSE(group_of("desk-files/1"));
    CHECK(names_of_groups(kDeskFiles | kClock) == "desk-files/1, clock/1");
    CHECK(names_of_groups(0) == "none");
}
