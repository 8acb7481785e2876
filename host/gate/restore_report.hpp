// What a restore did, or would do. Names are raw bytes; to_json() quotes them as git does.
#pragma once

#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

struct RestoreReport {
    struct File {
        std::string path;
        char kind = 'M';   ///< A comes back, M changes, D goes
        std::string diff;  ///< of a dry run: from what is there to what would be
    };
    struct Note {
        std::string path;
        std::string why;
    };
    std::string from;        ///< "c-12"
    std::string checkpoint;  ///< taken before it; "" when nothing was to be done
    std::string journal;     ///< id of the journal line
    std::vector<File> files;
    std::vector<Note> skipped;           ///< files that stayed as they were, and why
    std::vector<Note> folders;           ///< folders that could not be made or removed
    std::vector<std::string> untouched;  ///< what no checkpoint holds: quoted name and reason

    [[nodiscard]] Json to_json() const;
};

class CheckpointStore;
struct Checkpoint;

/// What WriteGate::restore would do now, with everything or with one file (raw path). Reads only.
/// Thread: [any]. Errors: corrupt, io, busy.
Result<RestoreReport> preview_restore(const CheckpointStore& checkpoints,
                                      const Checkpoint& from,
                                      const std::string& file = "");

}  // namespace daybook
