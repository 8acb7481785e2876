#include "host/gate/file_lines.hpp"

#include <algorithm>
#include <limits>

namespace daybook {
namespace {

std::size_t limit_of(std::size_t wanted) {
    return wanted == 0 ? std::numeric_limits<std::size_t>::max() : wanted;
}

/// The longest start of at most so many bytes that ends between two characters.
std::size_t start_of_characters(std::string_view text, std::size_t max_bytes) {
    std::size_t end = std::min(text.size(), max_bytes);
    while (end > 0 && end < text.size() &&
           (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
        --end;
    }
    return end;
}

}  // namespace

FileLines slice_lines(std::string_view content, const LineRange& range) {
    FileLines out;
    out.first_line = std::max<std::size_t>(range.first_line, 1);
    out.begin = content.size();
    const std::size_t max_lines = limit_of(range.max_lines);
    const std::size_t max_bytes = limit_of(range.max_bytes);
    std::size_t end = content.size();
    bool taking = true;
    for (std::size_t at = 0; at < content.size();) {
        const std::size_t next = std::min(content.find('\n', at), content.size() - 1) + 1;
        ++out.total_lines;
        if (out.total_lines == out.first_line) {
            out.begin = end = at;
        }
        if (taking && out.total_lines >= out.first_line) {
            const bool enough = out.lines >= max_lines;
            taking = !enough && next - out.begin <= max_bytes;
            if (taking) {
                end = next;
                ++out.lines;
            } else if (!enough && at == out.begin) {
                end = at + start_of_characters(content.substr(at, next - at), max_bytes);
                out.lines = 1;
                out.cut_in_line = true;
            }
        }
        at = next;
    }
    out.text = content.substr(out.begin, end - out.begin);
    return out;
}

}  // namespace daybook
