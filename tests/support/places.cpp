#include "places.hpp"

namespace daybook::test {

const char* build_folder() noexcept {
    return DAYBOOK_BUILD_FOLDER;
}

const char* source_folder() noexcept {
    return DAYBOOK_SOURCE_FOLDER;
}

}  // namespace daybook::test
