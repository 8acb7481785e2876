// Where the build and the source tree are. Included into every test by the build: the folders'
// names stand in places.cpp alone, so that a clone elsewhere compiles the same bytes.
#pragma once

namespace daybook::test {
const char* build_folder() noexcept;
const char* source_folder() noexcept;
}  // namespace daybook::test

#define DAYBOOK_BUILD_DIR ::daybook::test::build_folder()
#define DAYBOOK_SOURCE_DIR ::daybook::test::source_folder()
