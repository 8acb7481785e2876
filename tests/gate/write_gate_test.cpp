#include "host/gate/write_gate.hpp"

#include <chrono>
#include <sys/stat.h>

#include "host/gate/content_rules.hpp"
#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("a note is appended, checkpointed, journalled and receipted under one id", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    const auto receipt = must(desk.append(kNotes, "- wait 20 minutes after a gap"));
    CHECK(receipt.path == kNotes);
    CHECK(receipt.checkpoint == "c-2");
    CHECK(receipt.bytes_before == 0);
    CHECK(desk.get(std::string(kNotes)) == "- wait 20 minutes after a gap\n");
    CHECK(receipt.sha256 == sha256_hex(desk.get(std::string(kNotes))));

    const auto lines = desk.records("note_written");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].id == receipt.journal);
    const Json& data = lines[0].entry.data;
    CHECK(data["checkpoint"].as_string() == "c-2");
    CHECK(data["path"].as_string() == kNotes);
    CHECK(data["op"].as_string() == "append");
    CHECK(data["sha256_before"].as_string().empty());
    CHECK(data["sha256"].as_string() == receipt.sha256);
    CHECK(data["leash"]["file"].as_string() == kNotes);
    CHECK(lines[0].entry.turn == "t-1");

    const auto checkpoint = must(desk.store->find("c-2"));
    CHECK(checkpoint.why.tool == "write_file");
    CHECK_FALSE(must(desk.store->read(checkpoint, path_of(std::string(kNotes)))));
    CHECK(must(desk.store->diff(checkpoint, false)).front().kind == 'A');
    CHECK(desk.git("log -p").output.find("+- wait 20 minutes") != std::string::npos);
    CHECK(desk.fsck() == "");
    CHECK(desk.temporaries() == 0);
}

TEST_CASE("two notes never share a line", "[gate]") {
    GatedDesk desk;
    const std::string notes(kNotes);
    desk.put(notes, "- the owner's line without an end");
    REQUIRE(desk.start());
    REQUIRE(desk.append(kNotes, "- second"));
    REQUIRE(desk.append(kNotes, "- third\n"));
    CHECK(desk.get(notes) == "- the owner's line without an end\n- second\n- third\n");
    REQUIRE(desk.append("memory/log.txt", "a"));
    REQUIRE(desk.append("memory/log.txt", "b"));
    CHECK(desk.get("memory/log.txt") == "ab");
}

TEST_CASE("notes only grow, whoever asks", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    REQUIRE(desk.append(kNotes, "- one"));
    for (const auto& refused : {desk.replace(kNotes, "nothing"), desk.edit(kNotes, "one", "two")}) {
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code() == Errc::refused);
    }
    const auto lines = desk.records("write_refused");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].entry.data["rule"].as_string() == "notes are append-only");
    CHECK(desk.get(std::string(kNotes)) == "- one\n");
}

TEST_CASE("a replacement must rest on what this turn was shown", "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "old\n");
    REQUIRE(desk.start());
    const auto blind = desk.replace("Memory.md", "new\n");
    REQUIRE_FALSE(blind);
    CHECK(blind.error().code() == Errc::conflict);
    CHECK(blind.error().message() == "write Memory.md: never shown to this turn: read it first");
    CHECK(must(desk.store->list(10)).size() == 1);

    CHECK(must(desk.gate->read(desk.shown, path_of("Memory.md"))) == "old\n");
    REQUIRE(desk.replace("Memory.md", "new\n"));
    REQUIRE(desk.replace("Memory.md", "newer\n"));  // the turn knows what it wrote itself
    CHECK(desk.get("Memory.md") == "newer\n");

    WriteRequest request{path_of("Memory.md")};
    request.operation = kReplace;
    request.text = "by hash\n";
    request.base_sha256 = sha256_hex("newer\n");
    ShownFiles other_turn;
    std::swap(desk.shown, other_turn);
    REQUIRE(desk.ask(request));
    CHECK(desk.get("Memory.md") == "by hash\n");
    REQUIRE(desk.replace("memory/new.md", "a new file needs no base\n"));
}

TEST_CASE("an owner's save between read and write is a conflict, and both versions exist",
          "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "shown\n");
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    desk.put("Memory.md", "the owner's\n");
    const auto refused = desk.replace("Memory.md", "the desk's\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::conflict);
    CHECK(refused.error().message().find("c-2") != std::string::npos);
    CHECK(refused.error().message().find("c-3") != std::string::npos);
    CHECK(desk.get("Memory.md") == "the owner's\n");
    CHECK(*must(desk.store->read(must(desk.store->find("c-2")), path_of("Memory.md"))) ==
          "the owner's\n");
    const auto kept = must(desk.store->find("c-3"));
    CHECK(kept.kind == "conflict");
    CHECK(desk.git("show " + kept.commit + ":.daybook/conflicts/c-3").output == "the desk's\n");
    REQUIRE(desk.records("write_refused").size() == 1);
    CHECK(desk.records("write_refused")[0].entry.data["rule"].as_string() == "conflict");

    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    REQUIRE(desk.replace("Memory.md", "both\n"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("an edit exchanges the one place where its text stands", "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "stop 0.8%\nsize half\nstop 0.5%\naaa\n");
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    REQUIRE(desk.edit("Memory.md", "size half", "size full"));
    CHECK(desk.get("Memory.md") == "stop 0.8%\nsize full\nstop 0.5%\naaa\n");
    REQUIRE(desk.edit("Memory.md", "size full\n", ""));
    CHECK(desk.edit("Memory.md", "missing", "x").error().code() == Errc::invalid);
    CHECK(desk.edit("Memory.md", "stop", "x").error().message().find("2 times") !=
          std::string::npos);
    CHECK(desk.edit("Memory.md", "aa", "x").error().code() == Errc::invalid);
    CHECK(desk.edit("Memory.md", "", "x").error().code() == Errc::invalid);
    CHECK(desk.edit("memory/none.md", "a", "x").error().code() == Errc::not_found);
    CHECK(desk.get("Memory.md") == "stop 0.8%\nstop 0.5%\naaa\n");
}

TEST_CASE("a write outside the leash is refused, journalled, and takes no checkpoint", "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "m\n");
    REQUIRE(desk.start());
    Leash leash = GatedDesk::leash_on(path_of(std::string(kNotes)), kAppend);
    WriteRequest request{path_of("Memory.md")};
    request.text =
        "my card is 4111 1111 1111 1111, and a long text that goes on and on for more than eighty "
        "bytes";
    const auto refused = desk.ask_under(leash, request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::refused);
    CHECK(refused.error().message() == "write Memory.md: leash allows notes/2025-10-19.md only");
    const auto lines = desk.records("write_refused");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].entry.data["rule"].as_string() == "leash");
    CHECK(lines[0].entry.data["allowed"].as_string() == "notes/2025-10-19.md only");
    const std::string excerpt = lines[0].entry.data["excerpt"].as_string();
    CHECK(excerpt.find("4111") == std::string::npos);
    CHECK(excerpt.size() <= 83);
    CHECK(must(desk.store->list(10)).size() == 1);
    CHECK(desk.get("Memory.md") == "m\n");
}

TEST_CASE("a leash's budgets are charged and end", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    Leash leash = GatedDesk::leash_on(path_of(std::string(kNotes)), kAppend);
    leash.writes_left = 2;
    leash.bytes_left = 100;
    WriteRequest request{path_of(std::string(kNotes))};
    request.text = "- ten bytes";
    REQUIRE(desk.ask_under(leash, request));
    CHECK(leash.bytes_left == 88);
    CHECK(leash.writes_left == 1);
    request.text = std::string(89, 'x');
    CHECK(desk.ask_under(leash, request).error().code() == Errc::refused);
    request.text = "- two";
    REQUIRE(desk.ask_under(leash, request));
    CHECK(desk.ask_under(leash, request).error().code() == Errc::refused);
}

TEST_CASE("a message's turn writes three notes and no fourth", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    desk.allowance = TurnAllowance::of(TurnKind::message, day_of_desk());
    for (int i = 0; i < 3; ++i) {
        REQUIRE(desk.append(kNotes, "- note " + std::to_string(i)));
    }
    const auto fourth = desk.append(kNotes, "- note 4");
    REQUIRE_FALSE(fourth);
    CHECK(fourth.error().code() == Errc::refused);
    CHECK(desk.records("write_refused")[0].entry.data["rule"].as_string() == "notes of a turn");
    REQUIRE(desk.replace("memory/other.md", "is not a note\n"));
}

TEST_CASE("a note of an alert's turn is marked in the journal", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    desk.allowance = TurnAllowance::of(TurnKind::alert, day_of_desk());
    REQUIRE(desk.append(kNotes, "- gap up"));
    CHECK(desk.records("note_written")[0].entry.data["trust"].as_string() == "untrusted");
}

TEST_CASE("a secret reaches neither file, repository nor journal", "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "shown\n");
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    desk.put("Memory.md", "changed by the owner\n");
    const std::string secrets[] = {"ABCPE1234F",
                                   "4111111111111111",
                                   "sk-ant-api03-AbCdEf0123456789xyz",
                                   "-----BEGIN RSA PRIVATE KEY-----\nMIIEsecretbytes"};
    for (const std::string& secret : secrets) {
        CHECK(desk.append(kNotes, "- note " + secret).error().code() == Errc::refused);
        CHECK(desk.replace("Memory.md", secret).error().code() ==
              Errc::refused);  // not kept as a conflict either
    }
    WriteRequest request{path_of("memory/a.md")};
    request.operation = kReplace;
    request.text = "fine\n";
    request.reason = "because ABCPE1234F said so";
    REQUIRE(desk.ask(request));
    CHECK(desk.append("memory/4111111111111111.md", "x").error().code() == Errc::refused);
    const std::string everything =
        desk.git("log -p --all").output +
        run("cat '" + (desk.home / "journal/main").string() + "'/*").output;
    for (const std::string& secret : secrets) {
        CHECK(everything.find(secret) == std::string::npos);
    }
    CHECK(everything.find("MIIEsecretbytes") == std::string::npos);
    CHECK(desk.records("write_refused").size() == 9);
    CHECK(desk.records("write_refused")[0].entry.data["rule"].as_string() ==
          "secret: tax number (PAN)");
}

TEST_CASE("links, FIFOs and folders in a file's place are refused and never followed", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    desk.home.write("outside.txt", "outside\n");
    const auto notes = desk.folder / "notes";
    std::filesystem::create_directories(notes);
    const auto target = desk.folder / kNotes;
    const auto clear = [&] { std::filesystem::remove_all(target); };

    std::filesystem::create_symlink(desk.home / "outside.txt", target);
    CHECK(desk.append(kNotes, "- x").error().code() == Errc::refused);
    clear();
    std::filesystem::create_hard_link(desk.home / "outside.txt", target);
    CHECK(desk.append(kNotes, "- x").error().code() == Errc::refused);
    clear();
    REQUIRE(::mkfifo(target.c_str(), 0600) == 0);
    CHECK(desk.append(kNotes, "- x").error().code() == Errc::refused);
    clear();
    std::filesystem::create_directory(target);
    CHECK(desk.append(kNotes, "- x").error().code() == Errc::refused);
    clear();
    std::filesystem::remove_all(notes);
    std::filesystem::create_directory(desk.home / "elsewhere");
    std::filesystem::create_directory_symlink(desk.home / "elsewhere", notes);
    CHECK_FALSE(desk.append(kNotes, "- x"));
    CHECK(std::filesystem::is_empty(desk.home / "elsewhere"));
    std::filesystem::remove(notes);

    CHECK(desk.home.read("outside.txt") == "outside\n");
    REQUIRE(desk.append(kNotes, "- works again"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("long and odd names are handled or refused", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    CHECK_FALSE(DeskPath::parse("memory/" + std::string(300, 'a') + ".md"));
    for (const std::string& name : {std::string(252, 'a') + ".md",
                                    std::string("\u0909\u0928 e\u0301 \"quoted\" \\back.md"),
                                    std::string("-leading dash.md"),
                                    std::string("trailing. ")}) {
        INFO(name);
        const auto receipt = desk.replace("memory/" + name, "text\n");
        REQUIRE(receipt);
        CHECK(desk.get("memory/" + name) == "text\n");
        CHECK(must(desk.store->find(receipt->checkpoint)).file == "memory/" + name);
        must(desk.gate->read(desk.shown, path_of("memory/" + name)));
        REQUIRE(desk.replace("memory/" + name, "more\n"));
    }
    for (const char* name : {"memory/.gitmodules",
                             "memory/x/.GITMODULES",
                             "memory/gitmod~1",
                             "memory/.x.swp",
                             "memory/a~"}) {
        INFO(name);
        CHECK(desk.replace(name, "text\n").error().code() == Errc::refused);
        CHECK_FALSE(std::filesystem::exists(desk.folder / name));
    }
    CHECK(desk.replace("owner.txt", "text\n").error().code() == Errc::refused);
    CHECK(desk.fsck() == "");
    REQUIRE(desk.start());
    CHECK_FALSE(desk.store->recovery().owner_edited);
}

TEST_CASE("a file keeps its mode", "[gate]") {
    GatedDesk desk;
    desk.put("memory/run.sh", "#!/bin/sh\n");
    ::chmod((desk.folder / "memory/run.sh").c_str(), 0750);
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("memory/run.sh")));
    REQUIRE(desk.replace("memory/run.sh", "#!/bin/sh\ntrue\n"));
    struct stat status {};
    REQUIRE(::stat((desk.folder / "memory/run.sh").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0750);
    CHECK(desk.git("ls-tree HEAD memory/run.sh").output.starts_with("100755"));
}

TEST_CASE("reading shows, also that a file is absent; listing tells own from the owner's",
          "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "m\n");
    desk.put("notes/a.md", "n\n");
    desk.put("prices/x.csv", "1,2\n");
    desk.put(".git/config", "x");
    REQUIRE(desk.start());
    CHECK(must(desk.gate->read(desk.shown, path_of("prices/x.csv"))) == "1,2\n");
    CHECK_FALSE(desk.shown.find(path_of("prices/x.csv")));
    CHECK(desk.gate->read(desk.shown, path_of("memory/none.md")).error().code() == Errc::not_found);
    CHECK(desk.shown.find(path_of("memory/none.md")) == "");
    desk.put("memory/none.md", "made by the owner\n");
    CHECK(desk.replace("memory/none.md", "by the desk\n").error().code() == Errc::conflict);

    const auto all = must(desk.gate->list(""));
    std::string names;
    for (const auto& file : all) {
        names += file.path + (file.own ? "+" : "-") + " ";
    }
    CHECK(names == "Memory.md+ memory/none.md+ notes/a.md+ prices/x.csv- ");
    CHECK(must(desk.gate->list("notes")).size() == 1);
    CHECK(desk.gate->list("missing").error().code() == Errc::not_found);
    CHECK(desk.gate->list("../").error().code() == Errc::invalid);
}

TEST_CASE("one file is put back as a checkpoint holds it, and that can be undone", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    REQUIRE(desk.replace("memory/a.md", "one\n"));
    REQUIRE(desk.replace("memory/a.md", "two\n"));
    const std::string a = "memory/a.md";
    const auto before_two = must(desk.store->find("c-3"));
    const auto back = must(desk.gate->restore(before_two, a, desk.context));
    CHECK(desk.get("memory/a.md") == "one\n");
    CHECK(back.checkpoint == "c-4");
    CHECK(must(desk.store->find("c-4")).kind == "restore");
    CHECK(must(desk.gate->restore(must(desk.store->find("c-4")), a, desk.context)).checkpoint ==
          "c-5");
    CHECK(desk.get("memory/a.md") == "two\n");
    CHECK(must(desk.gate->restore(must(desk.store->find("c-4")), a, desk.context))
              .checkpoint.empty());

    const auto gone = must(desk.gate->restore(must(desk.store->find("c-2")), a, desk.context));
    CHECK_FALSE(std::filesystem::exists(desk.folder / "memory/a.md"));
    CHECK(gone.files.front().kind == 'D');
    REQUIRE(desk.gate->restore(must(desk.store->find(gone.checkpoint)), a, desk.context));
    CHECK(desk.get("memory/a.md") == "two\n");
    CHECK(desk.records("restore").size() == 4);
    CHECK(desk.fsck() == "");
    REQUIRE(desk.start());
    CHECK_FALSE(desk.store->recovery().owner_edited);
}

TEST_CASE("the owner gets back whatever a checkpoint holds, also what a desk may not write",
          "[gate]") {
    GatedDesk desk;
    const std::string notes(kNotes);
    const auto back_and_forth = [&](const std::string& name, const std::string& odd) {
        desk.put(name, odd);
        REQUIRE(desk.start());
        REQUIRE(desk.store->take_manual("with the odd content"));
        const auto then = must(desk.store->list(1)).front();
        desk.put(name, "clean\n");
        const auto back = desk.gate->restore(then, name, desk.context);
        INFO(name << ": " << (back ? "" : back.error().message()));
        REQUIRE(back);
        CHECK(desk.get(name) == odd);
        const auto undone =
            desk.gate->restore(must(desk.store->find(back->checkpoint)), name, desk.context);
        INFO((undone ? "" : undone.error().message()));
        REQUIRE(undone);
        CHECK(desk.get(name) == "clean\n");
    };
    back_and_forth("memory/secret.md", "PAN ABCPE1234F\n");
    back_and_forth("memory/bytes.md", std::string("\0\x01\xFF", 3));
    back_and_forth("Memory.md", std::string(kMaxMemoryFile + 1, 'x'));
    back_and_forth("memory/large.md", std::string(kMaxOtherFile + 1, 'x'));
    back_and_forth(notes, "- edited by the owner\n");
    CHECK(desk.records("restore").size() == 10);
    CHECK(desk.records("write_refused").empty());
    CHECK(desk.fsck() == "");
}

TEST_CASE("how often an edit's text occurs is counted to a hundred, in time", "[gate]") {
    GatedDesk desk;
    desk.put("memory/a.md", std::string(1UL << 20, 'a'));
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("memory/a.md")));
    const auto begun = std::chrono::steady_clock::now();
    const auto many = desk.edit("memory/a.md", "aa", "b");
    REQUIRE_FALSE(many);
    CHECK(many.error().message().find("at least 100 times") != std::string::npos);
    // Every place looks like the text but for its end: each look may not begin anew.
    const auto none = desk.edit("memory/a.md", std::string(1UL << 19, 'a') + "b", "b");
    REQUIRE_FALSE(none);
    CHECK(none.error().message().find("does not occur") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(2));
    desk.put("memory/b.md", "ababa ab\n");
    must(desk.gate->read(desk.shown, path_of("memory/b.md")));
    CHECK(desk.edit("memory/b.md", "aba", "x").error().message().find("occurs 2 times") !=
          std::string::npos);  // overlapping
    REQUIRE(desk.edit("memory/b.md", "aba ", "x "));
    CHECK(desk.get("memory/b.md") == "abx ab\n");
}
