// What is refused, and what is kept of it.
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

TEST_CASE("a write that the turn's allowance refuses is journalled, whoever asked", "[turn]") {
    DeskBench bench(
        R"([{"match":"breaking","calls":[{"name":"write_file","arguments":{"path":"Memory.md","text":"x"}}]},
            {"after":"write_file","match":"refused","text":"it was refused"}])");
    bench.open();
    CHECK(bench.say("breaking news", TurnKind::alert)["text"].as_string() == "it was refused");
    bench.settle();
    auto refused = bench.records("write_refused");
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].entry.data["path"].as_string() == "Memory.md");
    CHECK(refused[0].entry.data["rule"].as_string() == "leash");
    CHECK(refused[0].entry.data["tool"].as_string() == "write_file");
    CHECK(refused[0].entry.data["op"].as_string() == "replace");
    CHECK(refused[0].entry.data["allowed"].as_string().find("notes/2026-10-19.md") !=
          std::string::npos);
    CHECK(refused[0].entry.turn == "t-1");
    for (const std::string path :
         {"README.md", "../x", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"}) {
        Json arguments = Json::object().set("path", path).set("text", "x");
        CHECK_FALSE(bench.call_tool("write_file", arguments.dump()).result);
    }
    refused = bench.records("write_refused");
    REQUIRE(refused.size() == 4);
    CHECK(refused[1].entry.data["path"].as_string() == "README.md");
    CHECK(refused[2].entry.data["path"].as_string() == "../x");
    CHECK(refused[3].entry.data["path"].as_string().find("ghp_") == std::string::npos);
    CHECK(refused[3].entry.data["text"].as_string().find("ghp_") == std::string::npos);
}

TEST_CASE("a call that writes nothing leaves no refusal of a write", "[turn]") {
    DeskBench bench;
    bench.open();
    CHECK_FALSE(bench.call_tool("fly", "{}").result);
    CHECK_FALSE(bench.call_tool("read_file", R"({"path":"../x"})").result);
    CHECK(bench.records("write_refused").empty());
}

TEST_CASE("a trigger whose key or name looks like a secret is refused before it is journalled",
          "[turn]") {
    DeskBench bench;
    bench.open();
    const std::string secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    const auto key = bench.desk->accept(TurnKind::job, "do it", secret, "");
    CHECK(key.error().code() == Errc::invalid);
    CHECK(key.error().message().find(secret) == std::string::npos);
    CHECK(bench.desk->accept(TurnKind::job, "do it", "", secret).error().code() == Errc::invalid);
    CHECK(bench.desk->accept(TurnKind::job, "do it", "a\n" + secret, "")
              .error()
              .message()
              .find(secret) == std::string::npos);
    bench.settle();
    CHECK(bench.records().empty());
}

TEST_CASE("the owner's call takes nothing from what a waiting trigger says on the board",
          "[turn]") {
    DeskBench bench;
    bench.add_model("one", "[]", R"({"ready_file":"ready.txt"})");
    bench.open();
    bench.accept("hello");
    bench.events.wait("waiting");
    CHECK(bench.call_tool("add_note", R"({"text":"by hand"})").result);
    CHECK(bench.desk->status().state == "waiting for a model");
    CHECK_FALSE(bench.desk->status().reason.empty());
}

TEST_CASE("the owner's call is refused when the disk is low", "[turn]") {
    DeskBench bench;
    bench.config.host.min_free_bytes = std::uint64_t{1} << 62U;
    bench.open();
    const auto answer = bench.call_tool("add_note", R"({"text":"by hand"})");
    REQUIRE_FALSE(answer.result);
    CHECK(answer.result.error().code() == Errc::full);
    CHECK(bench.records().empty());
}

TEST_CASE("what a model's backend reads for itself was not shown to the turn", "[turn]") {
    DeskBench bench;
    bench.add_model(
        "one",
        R"([{"match":"rewrite","calls":[{"name":"write_file","arguments":{"path":"memory/rules.md","text":"new\n"}}]},
            {"after":"write_file","match":"conflict","text":"conflict"},
            {"after":"write_file","match":"","text":"written"}])",
        R"({"ready_file":"memory/rules.md"})");
    std::filesystem::create_directories(bench.folder / "workspace/main/memory");
    bench.folder.write("workspace/main/memory/rules.md", "old\n");
    bench.open();
    CHECK(bench.say("rewrite it")["text"].as_string() == "conflict");
    CHECK(bench.folder.read("workspace/main/memory/rules.md") == "old\n");
}

TEST_CASE("after a tool's result that was cut no file counts as seen whole", "[turn]") {
    const std::string write =
        R"("calls":[{"name":"write_file","arguments":{"path":"Memory.md","text":"new\n"}}])";
    DeskBench bench(R"([{"match":"rewrite","calls":[{"name":"echo","arguments":{"text":")" +
                    std::string(70000, 'x') + R"("}}]},
                        {"after":"echo","match":"",)" +
                    write + R"(},
                        {"match":"plain",)" +
                    write + R"(},
                        {"after":"write_file","match":"conflict","text":"conflict"},
                        {"after":"write_file","match":"checkpoint","text":"written"}])");
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/Memory.md", "old\n");
    bench.open();
    CHECK(bench.say("rewrite it")["text"].as_string() == "conflict");
    CHECK(bench.folder.read("workspace/main/Memory.md") == "old\n");
    CHECK(bench.say("plain")["text"].as_string() == "written");
}
