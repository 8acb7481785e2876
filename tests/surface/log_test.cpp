#include "host/surface/log.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::TempFolder;

TEST_CASE("the log keeps lines from its level on, one line an event", "[surface]") {
    const TempFolder folder;
    auto log = Log::to_file(folder / "log", LogLevel::info);
    REQUIRE(log);
    (*log)->debug("not this");
    (*log)->info("first desk=main");
    (*log)->warn("a plugin said\nERROR forged {} %v");
    (*log)->set_level(LogLevel::error);
    (*log)->warn("not this either");
    (*log)->set_level(LogLevel::debug);
    (*log)->debug("last");
    log->reset();
    const std::string text = folder.read("log/daybookd.log");
    CHECK_THAT(text, Catch::Contains("info first desk=main\n"));
    CHECK_THAT(text, Catch::Contains("a plugin said\\x0AERROR forged {} %v\n"));
    CHECK_THAT(text, Catch::Contains("debug last\n"));
    CHECK_THAT(text, !Catch::Contains("not this"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("a folder that cannot be made is an error, not the end", "[surface]") {
    const TempFolder folder;
    folder.write("file", "");
    auto log = Log::to_file(folder / "file" / "log", LogLevel::info);
    REQUIRE_FALSE(log);
    CHECK(log.error().code() == Errc::io);
}
