// Attempts to get out of a runner, each under its name. An attempt ignores the SDK and asks the
// kernel itself; what it reports of itself is checked from outside (tests/escape/host_bait.hpp).
#pragma once

#include <cerrno>
#include <span>
#include <string>
#include <string_view>

namespace daybook::escape {

/// What the plugin knows of the world around it: a desk it may read, and what is not its business.
struct Target {
    std::string root;     ///< the folder of everything below
    std::string memory;   ///< root/desk/Memory.md
    std::string other;    ///< root/other/Memory.md, another desk's
    std::string key;      ///< root/keys/key
    std::string scratch;  ///< root/scratch/own: writable in profile scratch
    int pid = 0;          ///< the host's
    int fd = -1;          ///< a descriptor of Memory.md that the host had open, writable, at start
    int port = 0;         ///< a TCP and a UDP port on loopback that the host listens on
    std::string address;  ///< of a byte in the host, decimal
};

struct Outcome {
    int error = 0;     ///< errno, 0 = it worked
    std::string text;  ///< what was read, at most a few bytes
};

struct Attempt {
    const char* name;
    const char* text;  ///< one clause for docs/wall.md
    Outcome (*act)(const Target&);
};

std::span<const Attempt> write_attempts();
std::span<const Attempt> name_attempts();
std::span<const Attempt> metadata_attempts();
std::span<const Attempt> program_attempts();
std::span<const Attempt> read_attempts();
std::span<const Attempt> process_attempts();
std::span<const Attempt> kernel_attempts();
std::span<const Attempt> network_attempts();
std::span<const Attempt> exhaustion_attempts();
std::span<const Attempt> scratch_attempts();
std::span<const Attempt> scratch_link_attempts();

/// 0 when the call succeeded, else errno; call it first thing.
inline Outcome tried(long outcome) {
    return {outcome < 0 ? errno : 0, {}};
}
/// Opens and leaves it open, as somebody would who means to go on.
Outcome tried_open(const std::string& path, int flags, int mode = 0600);
/// Opens, writes a line, closes.
Outcome tried_write(const std::string& path, int flags, int mode = 0600);
/// Opens and reads the first bytes.
Outcome tried_read(const std::string& path);
/// What remains of a child: the child itself pauses, so that it is seen from outside.
Outcome tried_child(long child);

/// Runs `act` with a read-only descriptor of the file, which stays open.
template <class Act>
Outcome with_reader(const std::string& path, const Act& act) {
    const Outcome opened = tried_open(path, 0);
    return opened.error != 0 ? opened : act(std::stoi(opened.text));
}

}  // namespace daybook::escape
