// Names that want to lead out of the desk, and an owner who saves while the desk writes.
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>

#include "host/format/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

void check_not_followed(const Home& home, const std::string& name) {
    INFO("name: " << name);
    const auto read = call_tool(home, "read_file", Json::object().set("path", name));
    CHECK_FALSE(read);
    const auto written =
        call_tool(home, "write_file", Json::object().set("path", name).set("text", "written\n"));
    REQUIRE_FALSE(written);
    INFO(name_of(written.error().code()) << ": " << written.error().message());
    CHECK((written.error().code() == Errc::invalid || written.error().code() == Errc::refused));
    CHECK(written.error().message().size() > 10);
    const auto edited =
        call_tool(home,
                  "edit_file",
                  Json::object().set("path", name).set("old_text", "secret").set("new_text", "x"));
    CHECK_FALSE(edited);
    const auto shown =
        request(home, "memory.show", Json::object().set("desk", "main").set("file", name));
    CHECK_FALSE(shown);
}

/// What must stay as it is: everything of the state folder that no refused call has a right to
/// touch.
Picture outside_of(const Home& home) {
    Picture all = picture_of(home.path());
    const std::string state = (home.path() / "state").string();
    std::erase_if(all, [&](const auto& item) {
        return item.first.starts_with(state + "/journal") || item.first.starts_with(state + "/log");
    });
    return all;
}

}  // namespace

TEST_CASE("names that lead out of the desk are refused by every tool, and nothing outside changes",
          "[fault]") {
    Home home;
    home.write("daybook.toml",
               config_text("", desk_table("main", {"memory"}) + desk_table("main2", {"memory"})));
    home.write("state/format", "1\n");
    home.write("state/workspace/main/Memory.md", "main\n");
    home.write("state/workspace/main/mine.txt", "secret of the owner's\n");
    home.write("state/workspace/main2/Memory.md", "secret of main2\n");
    home.write("outside/secret.md", "secret outside\n");
    const fs::path memory = workspace(home) / "memory";
    fs::create_directories(memory / "folder.md");
    fs::create_symlink(home.path() / "outside/secret.md", memory / "link.md");
    fs::create_symlink(home.path() / "outside/missing.md", memory / "dangling.md");
    fs::create_directory_symlink(home.path() / "outside", memory / "out");
    fs::create_hard_link(home.path() / "outside/secret.md", memory / "hard.md");
    REQUIRE(::mkfifo((memory / "fifo.md").c_str(), 0600) == 0);
    home.start();
    REQUIRE(call_tool(home, "list_files", Json::object()));
    const Picture before = outside_of(home);
    const std::string long_name(300, 'n');
    for (const std::string& name : {std::string("../main2/Memory.md"),
                                    std::string("../../../outside/secret.md"),
                                    std::string("memory/../../main2/Memory.md"),
                                    std::string("memory/./../../main2/Memory.md"),
                                    std::string("..\\main2\\Memory.md"),
                                    (home.path() / "outside/secret.md").string(),
                                    std::string("/etc/passwd"),
                                    std::string("//etc/passwd"),
                                    std::string("~/secret"),
                                    std::string("."),
                                    std::string(".."),
                                    std::string("memory/"),
                                    std::string("memory//link.md"),
                                    std::string("memory/link.md"),
                                    std::string("memory/dangling.md"),
                                    std::string("memory/out/secret.md"),
                                    std::string("memory/hard.md"),
                                    std::string("memory/fifo.md"),
                                    std::string("memory/folder.md"),
                                    std::string("Memory.md/x.md"),
                                    std::string("memory/a\0b.md", 13),
                                    "memory/" + long_name + ".md",
                                    std::string("memory/a\nb.md"),
                                    std::string(".git/config"),
                                    std::string("memory/.git/config"),
                                    std::string("memory/.GIT/config"),
                                    std::string(".daybook/format"),
                                    std::string("memory/.daybook/format"),
                                    std::string(".checkpoints/main.git/HEAD"),
                                    std::string("notes/2026-10-19.md/../../Memory.md"),
                                    std::string("state.json"),
                                    std::string("control.token")}) {
        check_not_followed(home, name);
    }
    const std::string changed = difference(before, outside_of(home));
    CHECK(changed == "");
    CHECK(call_tool(home, "add_note", Json::object().set("text", "and the desk works")));
    home.stop();
}

TEST_CASE("a file of the owner's is read, never written", "[fault]") {
    Home home;
    home.write("state/format", "1\n");
    home.write("state/workspace/main/mine.txt", "the owner's own\n");
    home.start();
    const Picture before = picture_of(workspace(home) / "mine.txt");
    CHECK(call_tool(home, "read_file", Json::object().set("path", "mine.txt")));
    const auto written =
        call_tool(home, "write_file", Json::object().set("path", "mine.txt").set("text", "x"));
    REQUIRE_FALSE(written);
    CHECK(written.error().code() == Errc::refused);
    CHECK_THAT(written.error().message(), Catch::Contains("mine.txt"));
    CHECK(difference(before, picture_of(workspace(home) / "mine.txt")).empty());
    home.stop();
}

TEST_CASE("odd but honest names are handled, and come back from the checkpoint", "[fault]") {
    Home home;
    home.start();
    for (const std::string& name : {std::string("memory/\xC3\xA9t\xC3\xA9.md"),
                                    std::string("memory/e\xCC\x81.md"),
                                    std::string("memory/\xE6\x97\xA5\xE6\x9C\xAC.md"),
                                    std::string("memory/with space.md"),
                                    std::string("memory/\xE2\x80\xAEgnp.md"),
                                    std::string("memory/-rf.md"),
                                    std::string("memory/'quote\".md"),
                                    "memory/" + std::string(240, 'n') + ".md"}) {
        INFO(name);
        const auto made =
            call_tool(home, "write_file", Json::object().set("path", name).set("text", "one\n"));
        INFO((made ? std::string() : made.error().message()));
        REQUIRE(made);
        const auto changed = call_tool(home,
                                       "edit_file",
                                       Json::object()
                                           .set("path", name)
                                           .set("old_text", "one")
                                           .set("new_text", "two")
                                           .set("base_sha256", sha256_hex("one\n")));
        REQUIRE(changed);
        CHECK(contents_of(workspace(home) / name) == "two\n");
        const auto back = request(home,
                                  "checkpoint.restore",
                                  Json::object()
                                      .set("desk", "main")
                                      .set("checkpoint", (*changed)["checkpoints"].items().front())
                                      .set("file", name));
        INFO((back ? std::string() : back.error().message()));
        REQUIRE(back);
        CHECK(contents_of(workspace(home) / name) == "one\n");
    }
    home.stop();
}

TEST_CASE(
    "an owner's save between read and write is a conflict, and both versions exist afterwards",
    "[fault]") {
    Home home;
    home.write("state/format", "1\n");
    home.write("state/workspace/main/Memory.md", "NIFTY trades in lots of 50\n");
    home.start();
    const auto read = call_tool(home, "read_file", Json::object().set("path", "Memory.md"));
    REQUIRE(read);
    const std::string base = (*read)["result"]["sha256"].as_string();
    CHECK(base == sha256_hex("NIFTY trades in lots of 50\n"));
    const std::string owners = "NIFTY trades in lots of 75\n";
    home.write("state/workspace/main/Memory.md", owners);

    const std::string models = "NIFTY trades in lots of 25\n";
    const auto written = call_tool(
        home,
        "write_file",
        Json::object().set("path", "Memory.md").set("text", models).set("base_sha256", base));
    REQUIRE_FALSE(written);
    CHECK(written.error().code() == Errc::conflict);
    CHECK_THAT(written.error().message(), Catch::Contains("read it again"));
    CHECK(contents_of(workspace(home) / "Memory.md") == owners);

    std::size_t conflicts = 0;
    std::string edited;
    const auto listed = request(home, "checkpoint.list", Json::object().set("desk", "main"));
    REQUIRE(listed);
    for (const Json& checkpoint : (*listed)["checkpoints"].items()) {
        const std::string& id = checkpoint["checkpoint"].is_string()
                                    ? checkpoint["checkpoint"].as_string()
                                    : checkpoint["id"].as_string();
        if (checkpoint["kind"].as_string() == "conflict") {
            ++conflicts;
            CHECK(checkpointed(home, id, ".daybook/conflicts/" + id).out == models);
            CHECK(checkpointed(home, id, "Memory.md").out == owners);
        } else if (checkpoint["kind"].as_string() == "edited" && edited.empty()) {
            edited = id;  // the newest
        }
    }
    CHECK(conflicts == 1);
    CHECK(checkpointed(home, edited, "Memory.md").out == owners);
    std::size_t refusals = 0;
    for (const Json& record : records_of(home, "journal/main")) {
        refusals += record["type"].as_string() == "write_refused" ? 1U : 0U;
    }
    CHECK(refusals == 1);

    // An edit that was based on the old text meets the same.
    const auto edit = call_tool(home,
                                "edit_file",
                                Json::object()
                                    .set("path", "Memory.md")
                                    .set("old_text", "75")
                                    .set("new_text", "25")
                                    .set("base_sha256", base));
    REQUIRE_FALSE(edit);
    CHECK(edit.error().code() == Errc::conflict);
    const auto never_shown =
        call_tool(home, "write_file", Json::object().set("path", "Memory.md").set("text", models));
    REQUIRE_FALSE(never_shown);
    CHECK(never_shown.error().code() == Errc::conflict);
    CHECK(contents_of(workspace(home) / "Memory.md") == owners);
    home.stop();
}
