#include "host/surface/home_copier.hpp"

#include <algorithm>
#include <limits>
#include <sys/stat.h>
#include <system_error>

#include "host/checkpoint/commit_record.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kAtOnce = 8UL * 1024 * 1024;  // smaller files are read before they are added
constexpr std::size_t kPiece = 1UL << 20;
constexpr std::size_t kMostLeftOut = 1000;

TarEntry entry_of(const std::string& path, const struct stat& status) {
    TarEntry entry;
    entry.path = "state/" + path;
    entry.mode = status.st_mode & 07777U;
    entry.modified = status.st_mtim.tv_sec;
    return entry;
}

}  // namespace

bool HomeCopier::is_temporary(std::string_view name) {
    return name.ends_with(".daybook~") || name.ends_with(".lock");
}

void HomeCopier::leave_out(const std::string& path, std::string_view why) {
    if (left_out_.size() < kMostLeftOut) {
        left_out_.push_back(quote_path(path) + " (" + std::string(why) + ")");
    }
}

/// How far each file of lines goes: whole lines, on the disk.
Result<> HomeCopier::note_lengths(const std::string& folder) {
    auto entries = os_.list(state_, folder);
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<>() : Result<>(entries.error());
    }
    for (const DirectoryEntry& entry : *entries) {
        if (!entry.is_regular || !entry.name.ends_with(".jsonl")) {
            continue;
        }
        const std::string path = folder + "/" + entry.name;
        auto length = whole_lines(path);
        if (!length) {
            return length.error();
        }
        lengths_[path] = *length;
    }
    return {};
}

Result<std::uint64_t> HomeCopier::whole_lines(const std::string& path) {
    auto file = os_.open_beneath(state_, path, OpenMode::read);
    if (!file) {
        return file.error();
    }
    if (auto synced = os_.data_sync(file->get()); !synced) {
        return synced.error();
    }
    auto status = os_.stat_of(file->get());
    if (!status) {
        return status.error();
    }
    auto end = static_cast<std::uint64_t>(status->st_size);
    while (end > 0) {
        const std::uint64_t begin = end - std::min<std::uint64_t>(end, kPiece);
        auto piece = os_.read_at(file->get(), begin, end - begin);
        if (!piece) {
            return piece.error();
        }
        if (const std::size_t newline = piece->rfind('\n'); newline != std::string::npos) {
            return begin + newline + 1;
        }
        end = begin;
    }
    return std::uint64_t{0};
}

Result<> HomeCopier::add_lines(const std::string& folder) {
    for (auto each = lengths_.lower_bound(folder + "/");
         each != lengths_.end() && each->first.starts_with(folder + "/");
         ++each) {
        if (auto added = add_regular(each->first, each->second); !added) {
            return added;
        }
    }
    return {};
}

/// All but the files of lines; those are added by their noted length.
Result<> HomeCopier::add_small(const std::string& folder) {
    auto entries = os_.list(state_, folder);
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<>() : Result<>(entries.error());
    }
    if (auto added = add_folder(folder); !added) {
        return added;
    }
    for (const DirectoryEntry& entry : *entries) {
        if (entry.name.ends_with(".jsonl") || is_temporary(entry.name)) {
            continue;
        }
        if (auto added = add_path(folder + "/" + entry.name); !added) {
            return added;
        }
    }
    return {};
}

Result<> HomeCopier::add_folder(const std::string& path) {
    auto status = os_.stat_beneath(state_, path);
    if (!status) {
        return status.error();
    }
    TarEntry entry = entry_of(path, *status);
    entry.kind = 'd';
    return archive_.add_folder(entry);
}

/// A file, a link or a folder with all below it.
Result<> HomeCopier::add_path(const std::string& path) {
    auto status = os_.stat_beneath(state_, path);
    if (!status) {
        return status.error();
    }
    if (S_ISREG(status->st_mode)) {
        auto added = add_regular(path, std::numeric_limits<std::uint64_t>::max());
        if (!added && added.error().code() == Errc::io && path.starts_with("workspace/") &&
            !path.starts_with("workspace/.checkpoints/")) {
            leave_out(path, added.error().message());  // the owner's, closed to us
            return {};
        }
        return added;
    }
    if (S_ISLNK(status->st_mode)) {
        std::error_code error;
        TarEntry entry = entry_of(path, *status);
        entry.kind = 'l';
        entry.link = fs::read_symlink(place_ / path, error).string();
        return error ? Result<>() : archive_.add_link(entry);
    }
    if (!S_ISDIR(status->st_mode)) {
        leave_out(path, "neither a file nor a folder");
        return {};
    }
    if (auto added = add_folder(path); !added) {
        return added;
    }
    auto entries = os_.list(state_, path);
    if (!entries) {
        return entries.error();
    }
    for (const DirectoryEntry& entry : *entries) {
        if (is_temporary(entry.name) || entry.name == "daybook.lock") {
            continue;
        }
        auto added = add_path(path + "/" + entry.name);
        if (!added && added.error().code() != Errc::not_found) {
            return added;  // gone since it was listed is fine
        }
    }
    return {};
}

Result<> HomeCopier::add_regular(const std::string& path, std::uint64_t most) {
    auto file = os_.open_beneath(state_, path, OpenMode::read);
    if (!file) {
        return file.error();
    }
    auto status = os_.stat_of(file->get());
    if (!status) {
        return status.error();
    }
    TarEntry entry = entry_of(path, *status);
    entry.bytes = std::min(static_cast<std::uint64_t>(status->st_size), most);
    if (entry.bytes <= kAtOnce) {
        auto text = os_.read_at(file->get(), 0, entry.bytes);
        return text ? archive_.add_text(entry, *text) : Result<>(text.error());
    }
    std::uint64_t at = 0;
    return archive_.add_file(entry, [&]() -> Result<std::string> {
        auto piece = os_.read_at(file->get(), at, kPiece);
        at += piece ? piece->size() : 0;
        return piece;
    });
}

}  // namespace daybook
