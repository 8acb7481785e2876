// libFuzzer's entry for one target, which the build names: DAYBOOK_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    daybook::fuzz::DAYBOOK_FUZZ_TARGET(
        std::string_view(reinterpret_cast<const char*>(bytes), size));
    return 0;
}
