#include "host/gate/shown_files.hpp"

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("parts of one content add up to the whole, in any order", "[gate]") {
    ShownFiles shown;
    const DeskPath a = path_of("memory/a.md");
    shown.remember_part(a, "h1", 20, 30, 30);
    shown.remember_part(a, "h1", 0, 10, 30);
    CHECK(shown.find(a) == "h1");
    CHECK_FALSE(shown.is_whole(a));
    shown.remember_part(a, "h1", 8, 20, 30);
    CHECK(shown.is_whole(a));
    shown.remember_part(a, "h1", 3, 4, 30);  // seeing a part again takes nothing back
    CHECK(shown.is_whole(a));
    shown.remember_part(a, "h2", 10, 30, 30);
    CHECK(shown.find(a) == "h2");
    CHECK_FALSE(shown.is_whole(a));
    shown.remember_part(a, "empty", 0, 0, 0);
    CHECK(shown.is_whole(a));
}

TEST_CASE("what did not reach the model whole counts as a part", "[gate]") {
    ShownFiles shown;
    const DeskPath a = path_of("memory/a.md");
    const DeskPath b = path_of("memory/b.md");
    shown.remember(a, "h1");
    shown.remember(b, "h2");
    shown.mark_partial(a);
    shown.mark_partial(path_of("memory/never.md"));
    CHECK(shown.find(a) == "h1");
    CHECK_FALSE(shown.is_whole(a));
    CHECK(shown.is_whole(b));
    CHECK_FALSE(shown.find(path_of("memory/never.md")));
    shown.remember_part(b, "h3", 0, 5, 10);
    shown.mark_all_partial();
    shown.remember_part(b, "h3", 5, 10, 10);  // what was cut away is not counted
    CHECK_FALSE(shown.is_whole(b));
}

TEST_CASE("a replacement wants the whole content shown, an edit a part of it", "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "one\ntwo\nthree\n");
    REQUIRE(desk.start());
    const DeskPath memory = path_of("Memory.md");
    std::string content;
    CHECK(must(desk.gate->read_lines(desk.shown, memory, {1, 2, 0}, content)).text == "one\ntwo\n");
    const auto refused = desk.replace("Memory.md", "mine\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::conflict);
    CHECK(refused.error().message() ==
          "write Memory.md: shown only in part: read all of it first, or use an edit");
    CHECK(desk.records("write_refused").size() == 1);
    CHECK(must(desk.store->list(10)).size() == 1);  // no checkpoint

    REQUIRE(desk.edit("Memory.md", "two", "2"));
    CHECK(desk.replace("Memory.md", "mine\n").error().code() == Errc::conflict);
    must(desk.gate->read_lines(desk.shown, memory, {1, 2, 0}, content));
    must(desk.gate->read_lines(desk.shown, memory, {3, 0, 0}, content));
    REQUIRE(desk.replace("Memory.md", "mine\n"));
    REQUIRE(desk.replace("Memory.md", "mine again\n"));
}

TEST_CASE("who appends has not seen what stood before", "[gate]") {
    GatedDesk desk;
    desk.put("memory/log.md", "the owner's\n");
    REQUIRE(desk.start());
    REQUIRE(desk.append("memory/log.md", "added\n"));
    CHECK(desk.replace("memory/log.md", "mine\n").error().code() == Errc::conflict);
    CHECK(desk.get("memory/log.md") == "the owner's\nadded\n");
    REQUIRE(desk.append("memory/new.md", "first\n"));
    REQUIRE(desk.replace("memory/new.md", "second\n"));
}

TEST_CASE("a hash by itself shows a turn nothing; the owner may pass one", "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "old\n");
    REQUIRE(desk.start());
    WriteRequest request{path_of("Memory.md")};
    request.operation = kReplace;
    request.base_sha256 = sha256_hex("old\n");
    request.text = "new\n";
    desk.allowance = TurnAllowance::of(TurnKind::message, day_of_desk());
    const auto blind = desk.ask(request);
    REQUIRE_FALSE(blind);
    CHECK(blind.error().code() == Errc::conflict);
    CHECK(desk.get("Memory.md") == "old\n");
    request.operation = kEdit;
    request.old_text = "old";
    CHECK(desk.ask(request).error().code() == Errc::conflict);
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    REQUIRE(desk.ask(request));

    desk.shown = {};
    desk.allowance = TurnAllowance::of(TurnKind::owner_call, day_of_desk());
    request.operation = kReplace;
    request.base_sha256 = sha256_hex(desk.get("Memory.md"));
    REQUIRE(desk.ask(request));
}
