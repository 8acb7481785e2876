// The runner's command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <daybook/result.hpp>

namespace daybook::runner {

enum class Isolation {
    required,      ///< both walls or no start
    seccomp_only,  ///< the owner accepts a kernel without Landlock
    off,           ///< the owner's word: no wall at all
};

struct Options {
    std::string module;    ///< --module FILE, absolute
    std::string desk_dir;  ///< --desk-dir DIR, absolute; may be read
    std::string plugin;    ///< --plugin NAME
    std::string desk;      ///< --desk NAME
    std::string profile = "pure";
    Isolation isolation = Isolation::required;
    std::string scratch_dir;         ///< --scratch-dir DIR, absolute: profile scratch writes there
    std::uint64_t scratch_max = 0;   ///< --scratch-max BYTES: the largest file in it
    std::vector<std::string> reads;  ///< --read DIR, further places that may be read
    std::string probe_file;  ///< --probe-file FILE: a file that opening for write must fail on; ""
                             ///< = the module
    int landlock_cap = 0;  ///< --landlock-cap N: use no newer Landlock ABI than N; 0 = the kernel's
    bool attach_wait =
        false;  ///< --attach-wait: stop before anything else until a debugger continues it

    [[nodiscard]] bool is_scratch() const noexcept { return profile == "scratch"; }
};

/// Errors: invalid (which option, what was expected), unsupported (a profile that is not served).
Result<Options> parse_options(int argc, char** argv);

[[nodiscard]] std::string_view name_of(Isolation isolation) noexcept;

}  // namespace daybook::runner
