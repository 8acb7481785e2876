#include "host/journal/line_scan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "host/format/journal_record.hpp"

namespace daybook {

Result<std::uint64_t> scan_lines(
    Os& os,
    int fd,
    std::uint64_t from,
    std::uint64_t to,
    const std::function<bool(std::uint64_t offset, std::string_view line)>& visit) {
    constexpr std::uint64_t kPiece = 256UL * 1024;
    std::uint64_t line_start = from;
    std::uint64_t at = from;
    std::string line;
    while (at < to) {
        auto piece = os.read_at(fd, at, std::min(kPiece, to - at));
        if (!piece) {
            return piece.error();
        }
        if (piece->empty()) {
            break;
        }
        std::string_view rest = *piece;
        while (!rest.empty()) {
            const std::size_t newline = rest.find('\n');
            const std::string_view part = rest.substr(0, newline);
            const std::size_t room =
                kMaxJournalLine + 1 - std::min(line.size(), kMaxJournalLine + 1);
            line += part.substr(0, room);
            if (newline == std::string_view::npos) {
                at += rest.size();
                break;
            }
            at += newline + 1;
            rest.remove_prefix(newline + 1);
            const std::uint64_t start = std::exchange(line_start, at);
            if (!visit(start, line)) {
                return line_start;
            }
            line.clear();
        }
    }
    return line_start;
}

}  // namespace daybook
