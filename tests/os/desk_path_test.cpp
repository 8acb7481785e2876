#include "host/os/desk_path.hpp"

#include "host/os/utf8.hpp"
#include "tests/catch.hpp"

using namespace daybook;

TEST_CASE("an ordinary path is taken as it is and split into folder and name", "[os]") {
    const auto path = DeskPath::parse("notes/2026-10-19.md");
    REQUIRE(path);
    CHECK(path->str() == "notes/2026-10-19.md");
    CHECK(path->folder() == "notes");
    CHECK(path->name() == "2026-10-19.md");
    const auto top = DeskPath::parse("Memory.md");
    REQUIRE(top);
    CHECK(top->folder().empty());
    CHECK(top->name() == "Memory.md");
}

TEST_CASE("only Memory.md, memory/, notes/ and skills/ are the desk's own", "[os]") {
    for (const char* text : {"Memory.md", "memory/a.md", "notes/x", "skills/pivot/SKILL.md"}) {
        INFO(text);
        CHECK(DeskPath::parse(text).operator bool());
        CHECK(DeskPath::parse(text)->is_own());
    }
    for (const char* text : {"memory.md",
                             "memory",
                             "notes",
                             "Notes/x",
                             "memory.md/x",
                             "prices/nifty.csv",
                             "xmemory/a"}) {
        INFO(text);
        CHECK(!DeskPath::parse(text)->is_own());
    }
}

TEST_CASE("a path that could lead elsewhere is refused by name", "[os]") {
    const std::string long_name(256, 'a');
    std::string deep;
    for (int i = 0; i < 17; ++i) {
        deep += i == 0 ? "a" : "/a";
    }
    std::string longest;
    while (longest.size() <= 1024) {
        longest += longest.empty() ? "" : "/";
        longest += std::string(200, 'b');
    }
    const std::vector<std::string> refused = {"",
                                              "/etc/passwd",
                                              "../x",
                                              "notes/../../x",
                                              "notes/..",
                                              "./x",
                                              "notes//x",
                                              "notes/",
                                              "notes/.",
                                              std::string("notes/a\0b", 9),
                                              "notes/a\nb",
                                              "notes/a\x7f",
                                              "notes/\xC2\x85",
                                              "notes/\xff",
                                              "notes/\xC0\xAF",
                                              "notes/\xED\xA0\x80",
                                              long_name,
                                              deep,
                                              longest};
    for (const std::string& text : refused) {
        const auto path = DeskPath::parse(text);
        INFO(printable(text));
        REQUIRE(!path);
        CHECK(path.error().code() == Errc::invalid);
        CHECK(path.error().message().size() < 300);
    }
}

TEST_CASE("names of git and of ours are refused in every spelling git knows", "[os]") {
    for (const char* text : {".git",
                             "notes/.git/config",
                             ".GIT",
                             ".Git/x",
                             "git~1",
                             "GIT~1/x",
                             ".git ",
                             ".git.",
                             ".git::$DATA",
                             ".git\\x",
                             ".g\xE2\x80\x8Cit",
                             "\xEF\xBB\xBF.git",
                             ".daybook",
                             "notes/.daybook/x",
                             "notes/.x.md.daybook~",
                             ".daybook~"}) {
        INFO(printable(text));
        CHECK(!DeskPath::parse(text));
    }
    for (const char* text :
         {".gitignore", "notes/git", "git~2", "daybook", ".daybook2", "notes/a.daybook", "x.git"}) {
        INFO(text);
        CHECK(DeskPath::parse(text).operator bool());
    }
}

TEST_CASE("odd but harmless names are kept byte for byte", "[os]") {
    for (const char* text : {"notes/über.md",
                             "notes/u\xCC\x88"
                             "ber.md",
                             "notes/नोट.md",
                             "notes/a b.md",
                             "notes/..x",
                             "notes/-x",
                             "notes/😀"}) {
        const auto path = DeskPath::parse(text);
        INFO(text);
        REQUIRE(path);
        CHECK(path->str() == text);
    }
    CHECK(*DeskPath::parse("notes/\xC3\xBC") != *DeskPath::parse("notes/u\xCC\x88"));
}

TEST_CASE("a plain name has only safe letters", "[os]") {
    for (const char* name : {"main", "a", "qwen3-14b", "x_y.z", "0"}) {
        INFO(name);
        CHECK(is_plain_name(name));
    }
    CHECK(is_plain_name(std::string(64, 'a')));
    CHECK(!is_plain_name(std::string(65, 'a')));
    for (const char* name : {"", ".", "..", ".x", "-x", "a/b", "a b", "ä", "a\n", "a:b"}) {
        INFO(name);
        CHECK(!is_plain_name(name));
    }
}

TEST_CASE("text from outside is shown in one line, without control characters", "[os]") {
    CHECK(printable("plain über") == "plain über");
    CHECK(printable("a\nb\x1b[31m") == "a\\x0Ab\\x1B[31m");
    CHECK(printable("\xff\xC2") == "\\xFF\\xC2");
    CHECK(printable("\xC2\x9B") == "\\xC2\\x9B");
    CHECK(printable("a\xE2\x80\xAE"
                    "b") == "a\\xE2\\x80\\xAEb");
    CHECK(printable("abcdef", 3) == "abc...");
    CHECK(printable("abc", 3) == "abc");
    CHECK(printable("aü", 2) == "a...");
}

TEST_CASE("UTF-8 sequences are told from overlong forms, surrogates and fragments", "[os]") {
    CHECK(utf8_sequence_at("a", 0) == 1);
    CHECK(utf8_sequence_at("\xC3\xBC", 0) == 2);
    CHECK(utf8_sequence_at("\xE0\xA4\xA8", 0) == 3);
    CHECK(utf8_sequence_at("\xF0\x9F\x98\x80", 0) == 4);
    CHECK(utf8_code_point("\xF0\x9F\x98\x80") == 0x1F600);
    for (const char* bad : {"\x80",
                            "\xC1\x81",
                            "\xE0\x80\x80",
                            "\xED\xA0\x80",
                            "\xF0\x80\x80\x80",
                            "\xF4\x90\x80\x80",
                            "\xF5\x80\x80\x80",
                            "\xC3",
                            "\xE2\x82",
                            "\xC3"
                            "a"}) {
        CHECK(utf8_sequence_at(bad, 0) == 0);
    }
}
