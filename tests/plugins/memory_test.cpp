#include <string>

#include <daybook/json.hpp>

#include "host/format/sha256.hpp"
#include "plugins/memory/edit_match.hpp"
#include "plugins/memory/note.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/fake_host.hpp"

using namespace daybook::memory;
using daybook::sha256_hex;
using daybook::json::ObjectReader;
using daybook::json::ObjectWriter;
using daybook::test::FakeHost;

namespace {

std::string note(const std::string& text) {
    return ObjectWriter().add("text", text).str();
}
bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a note is folded onto one line whatever line ends it brings", "[plugins]") {
    CHECK(fold_to_line("  a\r\n\tb \n\n c  ") == "a b c");
    CHECK(fold_to_line("a\xE2\x80\xA8- forged\xC2\x85next") == "a - forged next");
    CHECK(fold_to_line(std::string("a\0b\x1B[0m", 7)) == "a b [0m");
    CHECK(fold_to_line(" \n ").empty());
    CHECK(format_note("10:31", "text", "") == "- 10:31 text\n");
    CHECK(format_note("10:31", "text", "he said") == "- 10:31 text (from: \"he said\")\n");
    CHECK(minute_of("2019-01-02T10:31:07+05:30") == "10:31");
    CHECK(minute_of("yesterday").empty());
    CHECK(count_characters("a₹é") == 3);
}

TEST_CASE("the same note is found whatever its time or quote, another is not", "[plugins]") {
    const std::string notes =
        "- 09:31 wait 20 minutes\n\n- 10:00 stop at 1% (from: \"stop\")\n- no time\n";
    REQUIRE(find_note(notes, "wait 20 minutes").has_value());
    CHECK(find_note(notes, "wait 20 minutes")->minute == "09:31");
    CHECK(find_note(notes, "stop at 1%")->line == 3);
    CHECK(find_note(notes, "no time")->line == 4);
    CHECK_FALSE(find_note(notes, "wait 20").has_value());
    CHECK_FALSE(find_note(notes, "wait 20 minutes more").has_value());
    CHECK_FALSE(find_note("", "x").has_value());
}

TEST_CASE("a mismatch is explained by count and lines, or by the nearest line", "[plugins]") {
    const std::string file = "# Rules\n- stop 1.0%\n- size 2 lots\n- stop 1.0%\n";
    CHECK(explain_mismatch("Memory.md", file, "size 2 lots").empty());
    const auto twice = explain_mismatch("Memory.md", file, "stop 1.0%");
    CHECK(contains(twice, "occurs 2 times, on lines 2, 4"));
    const auto never = explain_mismatch("Memory.md", file, "- size 3 lots");
    CHECK(contains(never, "nowhere"));
    CHECK(contains(never, "nearest is line 3: - size 2 lots"));
    CHECK(contains(explain_mismatch("Memory.md", file, "-  size 2  lots"), "white space"));
    CHECK_FALSE(contains(explain_mismatch("Memory.md", file, "quite another thing"), "nearest"));
    CHECK(lines_of("aaa", "aa").size() ==
          2);  // overlapping ones count: the host would not know which
    CHECK(lines_of("abc", "").empty());
}

TEST_CASE("add_note appends one line with the desk's time and returns the receipt", "[plugins]") {
    FakeHost host("2019-01-02T10:31:59");
    REQUIRE(host.open("memory").empty());
    const auto first = host.call("add_note", note("wait 20\nminutes"));
    REQUIRE(first.ok());
    CHECK(first.endings == 1);
    CHECK(ObjectReader(first.json).text("checkpoint") == "c-1");
    CHECK(host.files["notes/2019-01-02.md"] == "- 10:31 wait 20 minutes\n");
    REQUIRE(host.call("add_note", R"({"text":"stop at 1%","quote":"he said:\nstop"})").ok());
    CHECK(host.files["notes/2019-01-02.md"] ==
          "- 10:31 wait 20 minutes\n- 10:31 stop at 1% (from: \"he said: stop\")\n");
}

TEST_CASE("add_note refuses what the day's file says already and writes nothing", "[plugins]") {
    FakeHost host("2019-01-02T11:00:00");
    REQUIRE(host.open("memory").empty());
    REQUIRE(host.call("add_note", note("same")).ok());
    host.set_now("2019-01-02T12:00:00");
    const auto again = host.call("add_note", note(" same\n"));
    CHECK(again.status == DAYBOOK_REFUSED);
    CHECK(contains(again.message, "line 1, noted at 11:00"));
    CHECK(host.writes == 1);
    host.set_now("2019-01-03T09:00:00");  // another day's file
    CHECK(host.call("add_note", note("same")).ok());
}

TEST_CASE("add_note refuses an empty and an overlong text", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    CHECK(host.call("add_note", note(" \n ")).status == DAYBOOK_INVALID);
    CHECK(host.call("add_note", note(std::string(2001, 'x'))).status == DAYBOOK_INVALID);
    CHECK(host.call("add_note", "{}").status == DAYBOOK_INVALID);
    CHECK(host.call("add_note", note(std::string(2000, 'x'))).ok());
}

TEST_CASE("a refusal of the host reaches the caller with its status and sentence", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    for (const daybook_status status :
         {DAYBOOK_REFUSED, DAYBOOK_NO_CHECKPOINT, DAYBOOK_FULL, DAYBOOK_IO}) {
        host.refuse_writes = {status, "write notes: the reason"};
        const auto refused = host.call("add_note", note("x"));
        CHECK(refused.status == status);
        CHECK(refused.message == "write notes: the reason");
        CHECK(refused.endings == 1);
    }
}

TEST_CASE("read_file shows at most 16 KiB, says how to read on, and gives the hash", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    std::string text;
    for (int i = 0; i < 3000; ++i) {
        text += "line " + std::to_string(i) + "\n";
    }
    host.files["Memory.md"] = text;
    const auto part = host.call("read_file", R"({"path":"Memory.md"})");
    REQUIRE(part.ok());
    const ObjectReader in(part.json);
    CHECK(in.text("text").size() <= 16 * 1024);
    CHECK(in.text("sha256") == sha256_hex(text));
    CHECK(in.integer("lines") == 3000);
    CHECK(in.text("more") == "read on with from_line " + std::to_string(in.integer("to_line") + 1));
    const auto rest =
        host.call("read_file", R"({"path":"Memory.md","from_line":2999,"max_lines":1})");
    CHECK(ObjectReader(rest.json).text("text") == "line 2998\n");
    CHECK(host.call("read_file", R"({"path":"absent.md"})").status == DAYBOOK_NOT_FOUND);
}

TEST_CASE("read_file gives JSON for any bytes", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    host.files["x"] = std::string("\xFF\xFE\0\x01\"\\", 6) + std::string(40000, '\xC3');
    const auto read = host.call("read_file", R"({"path":"x"})");
    REQUIRE(read.ok());
    CHECK_FALSE(ObjectReader(read.json).text("text").empty());
    CHECK(ObjectReader(read.json).has("more"));
}

TEST_CASE("list_files shows at most 200 files and counts the others", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    for (int i = 0; i < 250; ++i) {
        host.files["notes/" + std::to_string(i) + ".md"] = "x";
    }
    const auto listed = host.call("list_files", R"({"folder":"notes"})");
    REQUIRE(listed.ok());
    CHECK(daybook::json::items_of(ObjectReader(listed.json).raw("files")).size() == 200);
    CHECK(contains(ObjectReader(listed.json).text("more"), "50 more files"));
}

TEST_CASE("write_file does not read first: an unseen file is a conflict that says what to do",
          "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    host.files["Memory.md"] = "the owner's words\n";
    const std::string args = R"({"path":"Memory.md","text":"mine\n"})";
    const auto blind = host.call("write_file", args);
    CHECK(blind.status == DAYBOOK_CONFLICT);
    CHECK(contains(blind.message, "read it again"));
    CHECK(host.reads == 0);
    CHECK(host.files["Memory.md"] == "the owner's words\n");

    REQUIRE(host.call("read_file", R"({"path":"Memory.md"})").ok());
    host.files["Memory.md"] = "the owner changed it\n";  // between read and write
    CHECK(host.call("write_file", args, true).status == DAYBOOK_CONFLICT);
    CHECK(host.files["Memory.md"] == "the owner changed it\n");

    REQUIRE(host.call("read_file", R"({"path":"Memory.md"})").ok());
    CHECK(host.call("write_file", args, true).ok());
    CHECK(host.files["Memory.md"] == "mine\n");
    CHECK(host.call("write_file", R"({"path":"memory/new.md","text":"new"})").ok());
    CHECK(host.call("write_file",
                    ObjectWriter()
                        .add("path", "Memory.md")
                        .add("text", "by hash")
                        .add("base_sha256", sha256_hex("mine\n"))
                        .str())
              .ok());
}

TEST_CASE("edit_file exchanges one text, and explains a text that is not there once", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    host.files["Memory.md"] = "- stop 1.0%\n- size 2\n- stop 1.0%\n";
    REQUIRE(host.call("read_file", R"({"path":"Memory.md"})").ok());
    const auto twice = host.call(
        "edit_file", R"({"path":"Memory.md","old_text":"stop 1.0%","new_text":"stop 0.8%"})", true);
    CHECK(twice.status == DAYBOOK_INVALID);
    CHECK(contains(twice.message, "2 times, on lines 1, 3"));
    const auto one = host.call(
        "edit_file", R"({"path":"Memory.md","old_text":"size 2","new_text":"size 3"})", true);
    REQUIRE(one.ok());
    CHECK(contains(host.files["Memory.md"], "size 3"));
    CHECK(host.call("edit_file", R"({"path":"Memory.md","old_text":"a","new_text":"a"})", true)
              .status == DAYBOOK_INVALID);
    CHECK(host.call("edit_file", R"({"path":"Memory.md"})", true).status == DAYBOOK_INVALID);
}

TEST_CASE("edit_file does not look at the file before a conflict is settled", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    host.files["Memory.md"] = "a\n";
    const auto blind =
        host.call("edit_file", R"({"path":"Memory.md","old_text":"a","new_text":"b"})");
    CHECK(blind.status == DAYBOOK_CONFLICT);
    CHECK(host.reads == 0);
    CHECK(host.files["Memory.md"] == "a\n");
}

TEST_CASE("several edits stop at the first that fails and name the checkpoints of the others",
          "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    host.files["Memory.md"] = "a\nb\nc\n";
    REQUIRE(host.call("read_file", R"({"path":"Memory.md"})").ok());
    const auto failed = host.call(
        "edit_file",
        R"({"path":"Memory.md","edits":[{"old_text":"a","new_text":"A"},{"old_text":"x","new_text":"y"},{"old_text":"c","new_text":"C"}]})",
        true);
    CHECK(failed.status == DAYBOOK_INVALID);
    CHECK(contains(failed.message, "edit 2 of 3"));
    CHECK(contains(failed.message, "checkpoints c-1"));
    CHECK(host.files["Memory.md"] == "A\nb\nc\n");
    const auto done = host.call(
        "edit_file",
        R"({"path":"Memory.md","edits":[{"old_text":"b","new_text":"B"},{"old_text":"c","new_text":"C"}]})",
        true);
    REQUIRE(done.ok());
    CHECK(host.files["Memory.md"] == "A\nB\nC\n");
}

TEST_CASE("hostile arguments end in one failure, never in a crash", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    for (const std::string tool :
         {"add_note", "read_file", "list_files", "write_file", "edit_file"}) {
        for (const std::string args : {"",
                                       "{",
                                       "[]",
                                       "null",
                                       "{\"path\":",
                                       R"({"path":7,"text":[],"edits":"x"})",
                                       "{\"edits\":[1,2]}",
                                       "{\"text\":\"\\ud800\\u12\"}",
                                       "\xFF\xFE"}) {
            const auto outcome = host.call(tool, args);
            CHECK(outcome.endings == 1);
        }
    }
}

TEST_CASE("a cancelled call writes no further edit", "[plugins]") {
    FakeHost host;
    REQUIRE(host.open("memory").empty());
    host.files["Memory.md"] = "a\n";
    host.cancelled = true;
    const auto outcome =
        host.call("edit_file", R"({"path":"Memory.md","old_text":"a","new_text":"b"})");
    CHECK(outcome.status == DAYBOOK_CANCELLED);
    CHECK(host.files["Memory.md"] == "a\n");
}
