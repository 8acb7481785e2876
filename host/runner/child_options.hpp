// The command line of `daybook-runner --child`: a walled child of process/1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/runner/options.hpp"

namespace daybook::runner {

struct ChildOptions {
    std::string state_dir;   ///< --state DIR, absolute: the one folder it may write, and works in
    std::string probe_file;  ///< --probe-file FILE: of the host's; reading and writing must fail
    Isolation isolation = Isolation::required;
    std::uint64_t file_max = 0;        ///< --file-max BYTES: its largest file
    std::vector<std::string> reads;    ///< --read PATH, further files and folders that it may read
    std::vector<std::string> runs;     ///< --run PATH, further programs that it may start
    std::vector<std::uint16_t> ports;  ///< --port N, TCP ports that it may connect to
    /// --unconfined-network: where the kernel cannot hold it to ports, it may connect anywhere. The
    /// owner's word.
    bool unconfined_network = false;
    int landlock_cap = 0;  ///< --landlock-cap N: use no newer ABI than N; 0 = the kernel's
    std::vector<std::string> command;  ///< behind "--": the program's absolute path, its arguments
};

/// `words` are the arguments behind --child. Errors: invalid (which option, what was expected).
Result<ChildOptions> parse_child_options(const std::vector<std::string>& words);

}  // namespace daybook::runner
