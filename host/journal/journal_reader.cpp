#include "host/journal/journal_reader.hpp"

#include <algorithm>
#include <limits>

#include "host/journal/journal.hpp"
#include "host/journal/journal_file.hpp"
#include "host/journal/line_scan.hpp"

namespace daybook {

Result<JournalReader> JournalReader::open(Os& os, int state_dir, const std::string& folder) {
    auto fd = os.open_beneath(state_dir, folder, OpenMode::directory, 0);
    if (!fd) {
        return fd.error().during("read journal");
    }
    const int number = fd->get();
    return JournalReader(os, std::move(*fd), number, nullptr);
}

JournalReader JournalReader::of(const Journal& journal) {
    return JournalReader(journal.os(), UniqueFd(), journal.folder(), &journal);
}

Result<std::vector<DeskDate>> JournalReader::days() const {
    return journal_days(*os_, folder_);
}

/// How much of the day's file may be shown.
std::uint64_t JournalReader::visible_bytes(DeskDate day) const {
    constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
    if (live_ == nullptr) {
        return kAll;
    }
    const auto end = live_->durable_end();
    if (!end || day > end->day) {
        return 0;
    }
    return day == end->day ? end->bytes : kAll;
}

Result<std::uint64_t> JournalReader::read_from(DeskDate day,
                                               std::uint64_t offset,
                                               std::uint64_t after_seq,
                                               std::size_t limit,
                                               JournalLines& out) const {
    const std::uint64_t visible = visible_bytes(day);
    if (visible <= offset || out.records.size() >= limit) {
        return offset;
    }
    auto file = os_->open_beneath(folder_, journal_file_name(day), OpenMode::read, 0);
    if (!file) {
        return file.error().code() == Errc::not_found ? Result<std::uint64_t>(offset)
                                                      : file.error();
    }
    return scan_lines(
        *os_, file->get(), offset, visible, [&](std::uint64_t, std::string_view line) {
            auto record = JournalRecord::from_line(line);
            if (!record) {
                ++(record.error().code() == Errc::unsupported ? out.newer : out.bad);
            } else if (record->seq > after_seq) {
                out.records.push_back(std::move(*record));
            }
            return out.records.size() < limit;
        });
}

Result<JournalLines> JournalReader::read_day(DeskDate day) const {
    JournalLines out;
    auto read = read_from(day, 0, 0, std::numeric_limits<std::size_t>::max(), out);
    if (!read) {
        return read.error().during("read journal of " + day.str());
    }
    return out;
}

Result<JournalLines> JournalReader::read_since(DeskDate day,
                                               std::uint64_t seq,
                                               std::size_t limit) const {
    auto all = days();
    if (!all) {
        return all.error();
    }
    JournalLines out;
    for (const DeskDate next : *all) {
        if (next < day) {
            continue;
        }
        auto read = read_from(next, 0, next == day ? seq : 0, limit, out);
        if (!read) {
            return read.error().during("read journal of " + next.str());
        }
        if (out.records.size() >= limit) {
            break;
        }
    }
    return out;
}

Result<JournalPosition> JournalReader::end() const {
    auto all = days();
    if (!all) {
        return all.error();
    }
    JournalPosition position;
    for (auto day = all->rbegin(); day != all->rend(); ++day) {
        if (const std::uint64_t visible = visible_bytes(*day); visible > 0) {
            position.day = *day;
            auto file = os_->open_beneath(folder_, journal_file_name(*day), OpenMode::read, 0);
            if (!file) {
                return file.error();
            }
            auto behind =
                scan_lines(*os_, file->get(), 0, visible, [](std::uint64_t, std::string_view) {
                    return true;
                });
            if (!behind) {
                return behind.error();
            }
            position.offset = *behind;
            return position;
        }
    }
    return position;  // nothing yet: before every day
}

Result<JournalLines> JournalReader::follow(JournalPosition& position, std::size_t limit) const {
    auto all = days();
    if (!all) {
        return all.error();
    }
    JournalLines out;
    JournalPosition at = position;
    for (const DeskDate day : *all) {
        if (day < at.day || out.records.size() >= limit) {
            continue;
        }
        auto behind = read_from(day, day == at.day ? at.offset : 0, 0, limit, out);
        if (!behind) {
            return behind.error().during("follow journal");
        }
        // An empty new file is not moved to: the day before may still get its last line.
        if (*behind > 0) {
            at = JournalPosition{day, *behind};
        }
    }
    position = at;
    return out;
}

}  // namespace daybook
