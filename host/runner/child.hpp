// `daybook-runner --child`: starts one program behind walls, tells the host how it ends, and ends
// it, with everything that it started, when the host ends.
#pragma once

namespace daybook::runner {

/// `argv[1]` is --child. Descriptor 3 is the channel to the host; 0, 1 and 2 become the program's.
/// docs/formats.md, "Channel of a walled child".
[[noreturn]] void run_child(int argc, char** argv);

}  // namespace daybook::runner
