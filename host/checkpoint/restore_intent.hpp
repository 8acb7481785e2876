// A restore of many files that has begun: the file `daybook.restore` in the desk's repository.
//
// Before it is there nothing of the restore has happened; once it is, the restore is carried to
// its end, by the next start if need be. What is to be done follows from the two commits alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

inline constexpr std::string_view kRestoreIntentFile = "daybook.restore";

struct RestoreIntent {
    std::string checkpoint;         ///< "c-21": taken before it, holds what there was
    std::string checkpoint_commit;  ///< 40 hexadecimal digits
    std::string from;               ///< "c-12": holds what is wanted
    std::string from_commit;
    std::string file;     ///< raw path of the one file that is put back; "" = everything
    std::string turn;     ///< that ran meanwhile, or ""
    std::string session;  ///< for the journal's line
};

/// `folder` is the repository's, beneath `dir` ("" = `dir` itself). nullopt: none has begun.
/// Errors: corrupt, io.
Result<std::optional<RestoreIntent>> read_restore_intent(Os& os, int dir, std::string_view folder);
/// Durable when it returns: the point from which on the restore is carried to its end.
/// Errors: full, io.
Result<> write_restore_intent(Os& os,
                              int dir,
                              std::string_view folder,
                              const RestoreIntent& intent);
/// Errors: io.
Result<> remove_restore_intent(Os& os, int dir, std::string_view folder);

}  // namespace daybook
