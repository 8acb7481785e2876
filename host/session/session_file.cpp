#include "host/session/session_file.hpp"

#include <algorithm>
#include <charconv>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::size_t kDateBytes = 10;
constexpr std::size_t kMaxSessionBytes = 256UL * 1024 * 1024;
constexpr std::string_view kEnding = ".jsonl";

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
    auto text = read_file(os, folder, file, kMaxSessionBytes);
    if (!text) {
        return text.error();
    }
    SessionLines lines;
    std::string_view rest(*text);
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
