#include "host/journal/journal_file.hpp"

#include <algorithm>
#include <limits>

#include "host/format/journal_record.hpp"
#include "host/format/json.hpp"
#include "host/journal/line_scan.hpp"

namespace daybook {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr int kMaxTornFiles = 1000;

/// The seq a line carries, also when its version is newer than ours; nothing for a line that is no
/// JSON object.
std::optional<std::uint64_t> seq_in(std::string_view line) {
    JsonLimits limits;
    limits.max_bytes = kMaxJournalLine;
    const auto json = Json::parse(line, limits);
    const std::int64_t seq = json ? (*json)["seq"].as_integer() : 0;
    return seq > 0 ? std::optional(static_cast<std::uint64_t>(seq)) : std::nullopt;
}

/// Everything from the last newline on, found backwards in pieces.
Result<std::string> tail_of(Os& os, int fd, std::uint64_t size) {
    constexpr std::uint64_t kPiece = 64UL * 1024;
    std::string tail;
    std::uint64_t at = size;
    while (at > 0) {
        const std::uint64_t length = std::min(kPiece, at);
        at -= length;
        auto piece = os.read_at(fd, at, length);
        if (!piece) {
            return piece;
        }
        const std::size_t newline = piece->rfind('\n');
        if (newline != std::string::npos) {
            return piece->substr(newline + 1) + tail;
        }
        tail.insert(0, *piece);
    }
    return tail;
}

}  // namespace

std::string journal_file_name(DeskDate day) {
    return day.str().append(kSuffix);
}

Result<std::vector<DeskDate>> journal_days(Os& os, int folder) {
    auto entries = os.list(folder, "");
    if (!entries) {
        return entries.error();
    }
    std::vector<DeskDate> days;
    for (const DirectoryEntry& entry : *entries) {
        std::string_view name = entry.name;
        if (!entry.is_regular || !name.ends_with(kSuffix)) {
            continue;
        }
        name.remove_suffix(kSuffix.size());
        if (auto day = DeskDate::parse(name)) {
            days.push_back(*day);
        }
    }
    std::sort(days.begin(), days.end());
    return days;
}

Result<JournalFile> JournalFile::open(Os& os, int folder, DeskDate day, bool& sync_failed) {
    sync_failed = false;
    JournalFile file(os, folder, day);
    const std::string name = journal_file_name(day);
    auto fd = os.open_beneath(folder, name, OpenMode::append, 0600);
    if (!fd) {
        return fd.error();
    }
    file.fd_ = std::move(*fd);
    auto status = os.stat_of(file.fd_.get());
    if (!status) {
        return status.error().during(name);
    }
    if (!S_ISREG(status->st_mode)) {
        return Error(Errc::refused, "open " + name + ": not a regular file");
    }
    file.length_ = static_cast<std::uint64_t>(status->st_size);
    if (file.length_ == 0) {
        if (auto made = file.synced(os.full_sync(folder), sync_failed); !made) {
            return made.error().during("make " + name);
        }
        return file;
    }
    if (auto repaired = file.repair(sync_failed); !repaired) {
        return repaired.error().during("repair the end of " + name);
    }
    if (auto found = file.find_last_seq(); !found) {
        return found.error().during("read " + name);
    }
    return file;
}

/// Notes that a sync has failed.
Result<> JournalFile::synced(Result<> outcome, bool& sync_failed) {
    sync_failed = sync_failed || !outcome;
    return outcome;
}

Result<> JournalFile::repair(bool& sync_failed) {
    auto readable = os_->open_beneath(folder_, journal_file_name(day_), OpenMode::read, 0600);
    if (!readable) {
        return readable.error();
    }
    auto tail = tail_of(*os_, readable->get(), length_);
    if (!tail) {
        return tail.error();
    }
    if (tail->empty()) {
        return synced(os_->data_sync(fd_.get()), sync_failed);
    }
    JsonLimits limits;
    limits.max_bytes = kMaxJournalLine;
    if (const auto whole = Json::parse(*tail, limits); !whole || !whole->is_object()) {
        return set_aside(*tail, length_ - tail->size(), sync_failed);
    }
    if (auto written = os_->write_all(fd_.get(), "\n"); !written) {
        return written;
    }
    ++length_;
    return synced(os_->data_sync(fd_.get()), sync_failed);
}

Result<> JournalFile::set_aside(std::string_view tail, std::uint64_t keep, bool& sync_failed) {
    for (int number = 1; number <= kMaxTornFiles; ++number) {
        const std::string name = day_.str() + ".torn-" + std::to_string(number);
        auto copy = os_->open_beneath(folder_, name, OpenMode::create_new, 0600);
        if (!copy && copy.error().code() == Errc::conflict) {
            continue;
        }
        if (!copy) {
            return copy.error();
        }
        // The copy is durable before the cut, so that no byte is lost whenever the power goes.
        Result<> done = os_->write_all(copy->get(), tail);
        done = done ? synced(os_->full_sync(copy->get()), sync_failed) : done;
        done = done ? synced(os_->full_sync(folder_), sync_failed) : done;
        done = done ? os_->truncate(fd_.get(), keep) : done;
        done = done ? synced(os_->full_sync(fd_.get()), sync_failed) : done;
        if (!done) {
            return done;
        }
        length_ = keep;
        torn_ = TornTail{tail.size(), name};
        return {};
    }
    return Error(Errc::full,
                 "there are already " + std::to_string(kMaxTornFiles) + " torn ends of that day");
}

Result<> JournalFile::find_last_seq() {
    auto readable = os_->open_beneath(folder_, journal_file_name(day_), OpenMode::read, 0600);
    if (!readable) {
        return readable.error();
    }
    // The last line says it, unless it is damaged. Then the whole file is read, and each damaged
    // line behind the last sound one counts as the seq that it had, so that no id is given twice.
    constexpr std::uint64_t kWindow = kMaxJournalLine + 2;
    const std::uint64_t from = length_ > kWindow ? length_ - kWindow : 0;
    auto window = os_->read_at(readable->get(), from, length_ - from);
    if (!window) {
        return window.error();
    }
    if (!window->empty() && window->back() == '\n') {
        window->pop_back();
        const std::size_t newline = window->rfind('\n');
        const bool whole = newline != std::string::npos || from == 0;
        const auto seq = whole ? seq_in(std::string_view(*window).substr(
                                     newline == std::string::npos ? 0 : newline + 1))
                               : std::nullopt;
        if (seq) {
            last_seq_ = *seq;
            return {};
        }
    }
    std::uint64_t last = 0;
    auto scanned =
        scan_lines(*os_, readable->get(), 0, length_, [&](std::uint64_t, std::string_view line) {
            last = std::max(last + 1, seq_in(line).value_or(0));
            return true;
        });
    if (!scanned) {
        return scanned.error();
    }
    last_seq_ = last;
    return {};
}

Result<> JournalFile::append(std::string_view bytes) {
    if (cut_pending_) {
        if (auto cut = os_->truncate(fd_.get(), length_); !cut) {
            return cut.error().during("append to " + journal_file_name(day_));
        }
        cut_pending_ = false;
    }
    auto written = os_->write_all(fd_.get(), bytes);
    if (!written) {
        cut_pending_ = !os_->truncate(fd_.get(), length_);
        return written.error().during("append to " + journal_file_name(day_));
    }
    length_ += bytes.size();
    last_seq_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    return {};
}

Result<> JournalFile::sync() {
    auto done = os_->data_sync(fd_.get());
    return done ? done : Result<>(done.error().during("append to " + journal_file_name(day_)));
}

}  // namespace daybook
