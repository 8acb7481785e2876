#include "host/session/session_file.hpp"

#include <algorithm>
#include <charconv>

#include "host/os/desk_path.hpp"
#include "host/session/session_line.hpp"

namespace daybook {
namespace {

constexpr std::size_t kDateBytes = 10;
constexpr std::size_t kChunk = 1024UL * 1024;
constexpr std::size_t kMaxFirstLine = 16UL * 1024 * 1024;  // of an earlier version
constexpr std::string_view kEnding = ".jsonl";

/// Takes the whole lines of the text; what stands behind the last is `torn`.
void take_lines(std::string_view rest, SessionLines& lines) {
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
        auto record = SessionRecord::from_line(rest.substr(0, end));
        if (record) {
            lines.records.push_back(std::move(*record));
        } else {
            ++lines.bad_lines;
        }
        ++lines.lines;
        lines.bytes += end + 1;
        rest.remove_prefix(end + 1);
    }
    lines.torn = rest;
}

/// Of a large file.
Result<> read_first_line(Os& os, int file, SessionLines& lines) {
    auto head = os.read_at(file, 0, kMaxFirstLine);
    if (!head) {
        return head.error();
    }
    const auto end = head->find('\n');
    if (end != std::string::npos) {
        take_lines(std::string_view(*head).substr(0, end + 1), lines);
    }
    return {};
}

/// Puts lines.bytes at the first line that begins behind `until`. What lies before it is not read.
Result<> find_line(Os& os, int file, std::uint64_t until, SessionLines& lines) {
    for (std::uint64_t at = until;;) {
        auto chunk = os.read_at(file, at, kChunk);
        if (!chunk) {
            return chunk.error();
        }
        if (chunk->empty()) {
            return Error(
                Errc::corrupt,
                "its last line is longer than " + std::to_string(kMaxHeldSession) + " bytes");
        }
        if (const auto end = chunk->find('\n'); end != std::string::npos) {
            lines.bytes = at + end + 1;
            return {};
        }
        at += chunk->size();
    }
}

/// How many lines a large file has, by the numbers that its lines carry.
void count_by_seq(SessionLines& lines) {
    if (lines.records.size() < 2) {
        return;
    }
    lines.lines = std::max(lines.lines, lines.records.back().seq + lines.bad_lines);
    lines.skipped = lines.records[1].seq - std::min<std::uint64_t>(lines.records[1].seq, 2);
}

/// What was read of a large file begins in the middle of a turn: that one is not kept, but when it
/// is the only one.
void drop_cut_turn(std::vector<SessionRecord>& records) {
    if (records.empty()) {
        return;
    }
    const auto first = records.begin() + 1;
    const auto begin = std::find_if(
        first, records.end(), [](const SessionRecord& record) { return record.kind == "trigger"; });
    if (begin != records.end()) {
        records.erase(first, begin);
    }
}

}  // namespace

Result<SessionName> SessionName::parse(std::string_view text) {
    const Error wrong(Errc::invalid,
                      "session \"" + printable(text, 40) +
                          "\": expected a day and a number, such as 2026-10-19-1");
    if (text.size() < kDateBytes + 2 || text.size() > kDateBytes + 6 || text[kDateBytes] != '-') {
        return wrong;
    }
    auto day = DeskDate::parse(text.substr(0, kDateBytes));
    const std::string_view digits = text.substr(kDateBytes + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (!day || !whole || number < 1 || digits[0] == '0') {
        return wrong;
    }
    return SessionName{*day, number};
}

std::string SessionName::str() const {
    return day.str() + "-" + std::to_string(number);
}

Result<std::vector<SessionName>> list_session_names(Os& os, int folder) {
    auto entries = os.list(folder, "");
    if (!entries) {
        return entries.error();
    }
    std::vector<SessionName> names;
    for (const DirectoryEntry& entry : *entries) {
        if (!entry.is_regular || !entry.name.ends_with(kEnding)) {
            continue;
        }
        const std::string_view stem(entry.name.data(), entry.name.size() - kEnding.size());
        if (auto name = SessionName::parse(stem)) {
            names.push_back(*name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<SessionLines> read_session_file(Os& os, int folder, std::string_view file) {
    auto opened = os.open_beneath(folder, file, OpenMode::read);
    if (!opened) {
        return opened.error();
    }
    auto status = os.stat_of(opened->get());
    if (!status) {
        return status.error();
    }
    const auto size = static_cast<std::uint64_t>(status->st_size);
    SessionLines lines;
    const bool is_whole = size <= kMaxHeldSession;
    if (!is_whole) {
        if (auto first = read_first_line(os, opened->get(), lines); !first) {
            return first.error();
        }
        if (auto found = find_line(os, opened->get(), size - kMaxHeldSession, lines); !found) {
            return found.error();
        }
    }
    auto text = os.read_at(opened->get(), lines.bytes, kMaxHeldSession + 1);
    if (!text) {
        return text.error();
    }
    take_lines(*text, lines);
    if (!is_whole) {
        drop_cut_turn(lines.records);
        count_by_seq(lines);
    }
    return lines;
}

Result<std::string> free_name(Os& os, int folder, std::string_view stem) {
    for (int number = 1; number < 10000; ++number) {
        std::string name = std::string(stem) + std::to_string(number);
        auto found = os.stat_beneath(folder, name);
        if (!found && found.error().code() == Errc::not_found) {
            return name;
        }
        if (!found) {
            return found.error();
        }
    }
    return Error(Errc::full, "set aside " + std::string(stem) + "N: every name is taken");
}

}  // namespace daybook
