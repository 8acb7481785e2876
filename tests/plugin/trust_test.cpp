// plugins.lock: what may run, and how a file that may not is told.
#include "tests/support/trust.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/format/sha256.hpp"
#include "host/plugin/plugin_trust.hpp"
#include "tests/catch.hpp"
#include "tests/plugin/fixture_plugins.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

/// A home with a folder of the owner's plugins and one that came with daybook.
struct Home {
    TempFolder folder;
    LinuxOs os;
    Registry::Places places{
        {folder / "own", folder / "shipped"}, folder / "state", {folder / "shipped"}};

    Home() {
        for (const char* name : {"own", "shipped", "state"}) {
            fs::create_directories(folder / name);
        }
    }
    fs::path put(const std::string& fixture, const std::string& as) const {
        const fs::path file = folder / (as + ".so");
        fs::copy_file(
            fixture_folder() / (fixture + ".so"), file, fs::copy_options::overwrite_existing);
        return file;
    }
    /// As the build does for what it ships.
    void sum(const fs::path& file) const {
        std::ofstream(file.string() + ".sha256")
            << sha256_hex(bytes_of(file)) << "  " << file.filename().string() << "\n";
    }
    static std::string bytes_of(const fs::path& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }
    Registry load(const std::string& name) {
        auto registry = Registry::load(os, places, config_with({name}));
        REQUIRE(registry);
        return std::move(*registry);
    }
    std::string reason(const std::string& name) { return load(name).find(name)->refused; }
    [[nodiscard]] std::string lock() const { return folder.read("state/plugins.lock"); }
    void trust(const fs::path& file) { REQUIRE(trust_plugin(os, places.state, file)); }
};

}  // namespace

TEST_CASE("a plugin that nobody approved is refused with its hash, its wants and what to do",
          "[plugin]") {
    Home home;
    const fs::path file = home.put("writer", "own/writer");
    const Registry before = home.load("writer");
    const std::string& reason = before.find("writer")->refused;
    CHECK_THAT(reason,
               Contains("plugin \"writer\" 1.0.0 (" + file.string() + "): is not trusted") &&
                   Contains(sha256_hex(Home::bytes_of(file)).substr(0, 12)) &&
                   Contains("profile pure, wants daybook.desk-files/1, daybook.clock/1") &&
                   Contains("daybook plugin trust " + file.string()));
    CHECK(before.find("writer")->trust.empty());
    CHECK_FALSE(fs::exists(home.folder / "state/modules"));

    home.trust(file);
    const Registry after = home.load("writer");
    CHECK(after.find("writer")->refused.empty());
    CHECK(after.find("writer")->trust == "owner");
    CHECK(home.load("writer").changes().empty());
}

TEST_CASE("a file that changed is refused with both hashes, versions and wants, until approved",
          "[plugin]") {
    Home home;
    const fs::path file = home.put("effects", "own/effects");
    home.trust(file);
    const std::string first = sha256_hex(Home::bytes_of(file));
    // Another file of the same plugin, of another version, that wants other things.
    std::string bytes = Home::bytes_of(file);
    const auto exchange = [&](const std::string& from, const std::string& to) {
        const std::size_t at = bytes.find(from);
        REQUIRE(at != std::string::npos);
        REQUIRE(from.size() == to.size());
        bytes.replace(at, from.size(), to);
    };
    exchange(R"("wants":["daybook.journal/1"])", R"("wants":["daybook.tools/1"]  )");
    exchange(R"("version":"1.0.0")", R"("version":"1.0.9")");
    std::ofstream(file, std::ios::binary) << bytes;
    CHECK_THAT(
        home.reason("effects"),
        Contains("changed since it was approved") &&
            Contains("approved was sha256 " + first.substr(0, 12) + " (version 1.0.0)") &&
            Contains("the file is " + sha256_hex(bytes).substr(0, 12) + " (version 1.0.9)") &&
            Contains("now it wants daybook.tools/1") && Contains("no longer daybook.journal/1") &&
            Contains("daybook plugin trust " + file.string()));
    home.trust(file);
    CHECK(home.reason("effects").empty());
    // The earlier file was approved once and stays so: going back needs no new word.
    home.put("effects", "own/effects");
    CHECK(home.reason("effects").empty());
}

TEST_CASE("a want that the owner struck from the lock is refused until it is approved again",
          "[plugin]") {
    Home home;
    const fs::path file = home.put("writer", "own/writer");
    home.trust(file);
    std::string lock = home.lock();
    const std::size_t at = lock.find("\"daybook.clock/1\"");
    REQUIRE(at != std::string::npos);
    lock.replace(at, 17, "\"daybook.other/1\"");
    home.folder.write("state/plugins.lock", lock);
    CHECK_THAT(home.reason("writer"),
               Contains("wants more than was approved: daybook.clock/1") &&
                   Contains("daybook plugin trust"));
    home.trust(file);
    CHECK(home.reason("writer").empty());
}

TEST_CASE("what came with daybook is trusted by its recorded sum, and by that alone", "[plugin]") {
    Home home;
    const fs::path file = home.put("echo", "shipped/echo");
    CHECK_THAT(home.reason("echo"), Contains("is not trusted"));
    home.sum(file);
    const Registry first = home.load("echo");
    CHECK(first.find("echo")->refused.empty());
    CHECK(first.find("echo")->trust == "shipped");
    REQUIRE(first.changes().size() == 1);
    CHECK_THAT(first.changes()[0], Contains("plugin \"echo\" 1.0.0: new, file"));
    CHECK(home.load("echo").changes().empty());

    // An upgrade brings both: told, not asked.
    std::ofstream(file, std::ios::binary | std::ios::app) << "newer";
    CHECK_THAT(home.reason("echo"), Contains("changed since it was approved"));
    home.sum(file);
    const Registry upgraded = home.load("echo");
    CHECK(upgraded.find("echo")->refused.empty());
    REQUIRE(upgraded.changes().size() == 1);
    CHECK_THAT(upgraded.changes()[0], Contains("file changed from"));

    // A sum that everybody could have written says nothing; neither does one in the owner's folder.
    home.put("teller", "shipped/teller");
    home.sum(home.folder / "shipped/teller.so");
    fs::permissions(
        home.folder / "shipped/teller.so.sha256", fs::perms::others_write, fs::perm_options::add);
    CHECK_THAT(home.reason("teller"), Contains("is not trusted"));
    home.put("writer", "own/writer");
    home.sum(home.folder / "own/writer.so");
    CHECK_THAT(home.reason("writer"), Contains("is not trusted"));
}

TEST_CASE("a lock that cannot be read is left as it is, and only shipped plugins run", "[plugin]") {
    Home home;
    const fs::path file = home.put("writer", "own/writer");
    home.sum(home.put("echo", "shipped/echo"));
    home.trust(file);
    for (const std::string& damage :
         {std::string("{\"lock\":2,"),
          std::string("{\"lock\":2,\"plugins\":{\"writer\":[{\"sha256\":\"12\"}]}}"),
          std::string("{\"lock\":2,\"plugins\":{\"writer\":7}}"),
          std::string("[]"),
          std::string("{\"lock\":3,\"plugins\":{}}")}) {
        CAPTURE(damage);
        home.folder.write("state/plugins.lock", damage);
        CHECK_THAT(
            home.reason("writer"),
            Contains("plugin \"writer\"") && Contains("read plugins.lock: ") && Contains("move"));
        const Registry registry = home.load("echo");
        CHECK(registry.find("echo")->refused.empty());
        REQUIRE(registry.changes().size() == 1);
        CHECK_THAT(registry.changes()[0], Contains("plugins.lock"));
        PluginEntry entry;
        entry.file = file;
        REQUIRE(read_plugin(home.os, entry));
        const UniqueFd dir = must(home.os.open_root(home.places.state));
        CHECK_FALSE(approve_plugin(home.os, dir.get(), entry, Timestamp{}));
        CHECK(home.lock() == damage);
    }
}

TEST_CASE("a lock of number 1 goes on to count, and is written anew with the next change",
          "[plugin]") {
    Home home;
    const fs::path file = home.put("writer", "own/writer");
    home.folder.write(
        "state/plugins.lock",
        R"({"lock":1,"plugins":{"writer":{"sha256":")" + sha256_hex(Home::bytes_of(file)) +
            R"(","version":"1.0.0","file":"x","wants":["daybook.desk-files/1","daybook.clock/1"]}}})");
    const Registry registry = home.load("writer");
    CHECK(registry.find("writer")->refused.empty());
    CHECK(registry.find("writer")->trust == "configuration");
    CHECK_THAT(home.lock(), Contains("\"lock\": 2"));
    CHECK(home.load("writer").find("writer")->refused.empty());
}

TEST_CASE("sixteen files of a plugin stay approved, the oldest goes", "[plugin]") {
    Home home;
    const fs::path file = home.put("echo", "own/echo");
    const std::string first = sha256_hex(Home::bytes_of(file));
    for (std::size_t i = 0; i <= kMaxTrustedFiles; ++i) {
        home.trust(file);
        std::ofstream(file, std::ios::binary | std::ios::app) << i;
    }
    const UniqueFd dir = must(home.os.open_root(home.places.state));
    const PluginsLock lock = must(PluginsLock::load(home.os, dir.get()));
    CHECK(lock.find(first) == nullptr);
    REQUIRE(lock.newest("echo") != nullptr);
    CHECK(lock.newest("echo")->by == "owner");
    CHECK_THAT(home.reason("echo"), Contains("changed since it was approved"));
}
