// The corpus of every libFuzzer target, run once.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/fuzz/targets/targets.hpp"

using namespace daybook;

TEST_CASE("every input that fuzzing has kept is read without harm", "[fuzz]") {
    for (const fuzz::Target& target : fuzz::kTargets) {
        std::size_t inputs = 0;
        for (const auto& entry : std::filesystem::directory_iterator(
                 std::string(DAYBOOK_SOURCE_DIR) + "/tests/fuzz/corpus/" + target.name)) {
            std::ostringstream text;
            text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
            const std::string bytes = text.str();
            INFO(target.name << " " << entry.path());
            target.read(bytes);
            for (const std::size_t cut : {bytes.size() / 2, bytes.size() - bytes.size() / 8}) {
                target.read(std::string(bytes, 0, cut));  // of its own size, so that a reader past
                                                          // the end is seen under a sanitizer
            }
            ++inputs;
        }
        INFO(target.name);
        CHECK(inputs > 0);
    }
}
