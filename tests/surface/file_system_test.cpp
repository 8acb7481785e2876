// Which file systems a home may lie on.
#include "host/surface/file_system.hpp"

#include <fcntl.h>

#include "host/os/unique_fd.hpp"
#include "tests/catch.hpp"

using namespace daybook;

TEST_CASE("file systems are told apart by what they keep when the power goes", "[surface]") {
    CHECK(file_system_of(0xEF53).name == "ext4");
    CHECK(file_system_of(0xEF53).fit == FileSystem::Fit::yes);
    CHECK(file_system_of(0x58465342).fit == FileSystem::Fit::yes);
    // A number with its highest bit set, as a 32-bit and as a 64-bit long.
    CHECK(file_system_of(0x9123683E).name == "btrfs");
    CHECK(file_system_of(static_cast<int>(0x9123683E)).name == "btrfs");
    CHECK(file_system_of(0x01021994).fit == FileSystem::Fit::no_disk);
    CHECK(file_system_of(0x6969).fit == FileSystem::Fit::unsure);
    CHECK(file_system_of(0x1234).name == "unknown (0x00001234)");
    CHECK(file_system_of(0x1234).fit == FileSystem::Fit::unsure);
    const UniqueFd proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto found = file_system_at(proc.get());
    REQUIRE(found);
    CHECK(found->fit == FileSystem::Fit::unsure);
    CHECK(file_system_at(-1).error().code() == Errc::io);
}
