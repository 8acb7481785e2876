// Where each checkpoint's commit lies and which files it concerns: one small SQLite database a
// repository, `daybook.index`, so that a page deep in the history, an id or one file's history need
// not read every commit (docs/formats.md, "Listing index").
//
// Disposable: it says where, never what. It is brought up to the newest commit before it answers,
// and made anew from the commits when it is lost, damaged, of another version or not in step with
// them; the caller reads the commits themselves and compares. It holds nothing that git does not.
// Never on the path of a write, and open only while it is asked. Thread: [any]; one mutex, held
// over what SQLite does, for only those who list wait for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/chain_reading.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/sqlite_database.hpp"
#include "host/os/os.hpp"

namespace daybook {

class ListingIndex {
  public:
    /// Every file of it begins so.
    static constexpr std::string_view kName = "daybook.index";

    /// `folder_fd` is the repository's folder, opened; it outlives this. Touches nothing.
    ListingIndex(Os& os, std::filesystem::path folder, int folder_fd)
        : os_(os), folder_(std::move(folder)), folder_fd_(folder_fd) {}

    using Place = CheckpointPlace;

    /// Brings it up to that commit. Errors: not_found, corrupt (a commit cannot be read), invalid
    /// (the history was put together by hand and has no order), busy, full, io.
    Result<> catch_up(const GitObjects& objects, const GitId& newest);

    /// The rest bring it up first and have the same errors.
    /// Newest first, at most `limit`, older than `before` (0 = from the newest), of those that
    /// concern `file` (raw path; "" = all).
    Result<std::vector<Place>> page(const GitObjects& objects,
                                    const GitId& newest,
                                    std::size_t limit,
                                    std::uint64_t before,
                                    std::string_view file);
    /// At most two whose commit, or whose write's, begins with these hexadecimal digits.
    Result<std::vector<Place>> starting_with(const GitObjects& objects,
                                             const GitId& newest,
                                             std::string_view digits);

    /// Whether it says of each checkpoint what the commits say. "" = it does, or there is none, or
    /// it has yet to catch up; else what is wrong with it. Makes none. Errors: as catch_up().
    Result<std::string> compare(const GitObjects& objects, const GitId& newest);
    /// Removes its files. Errors: io.
    Result<> drop();

  private:
    /// Opens it, brings it up, asks, closes it. One that is damaged is made anew, once.
    Result<> ask(const GitObjects& objects,
                 const GitId& newest,
                 const std::function<Result<>(SqliteDatabase&)>& question);
    Result<> drop_locked();

    Os& os_;
    std::filesystem::path folder_;
    int folder_fd_;
    std::mutex mutex_;  // the files
};

}  // namespace daybook
