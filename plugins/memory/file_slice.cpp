#include "plugins/memory/file_slice.hpp"

#include <algorithm>

namespace daybook::memory {

std::string_view cut_to_bytes(std::string_view text, std::size_t max_bytes) noexcept {
    if (text.size() <= max_bytes) {
        return text;
    }
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
        --end;
    }
    return text.substr(0, end);
}

FileSlice slice_lines(std::string_view content,
                      std::size_t from_line,
                      std::size_t max_lines,
                      std::size_t max_bytes) {
    FileSlice slice;
    slice.from_line = std::max<std::size_t>(from_line, 1);
    slice.to_line = slice.from_line - 1;
    std::size_t begin = content.size();
    std::size_t end = content.size();
    bool taking = true;
    for (std::size_t at = 0; at < content.size();) {
        const std::size_t next = std::min(content.find('\n', at), content.size() - 1) + 1;
        ++slice.lines;
        if (slice.lines == slice.from_line) {
            begin = end = at;
        }
        if (taking && slice.lines >= slice.from_line) {
            const bool enough = max_lines != 0 && slice.lines - slice.from_line >= max_lines;
            const bool fits = next - begin <= max_bytes;
            taking = !enough && fits;
            if (taking) {
                end = next;
                slice.to_line = slice.lines;
            } else if (!enough && at == begin) {  // one line longer than all that may be shown
                end = begin + cut_to_bytes(content.substr(begin, next - begin), max_bytes).size();
                slice.to_line = slice.lines;
                slice.cut_in_line = true;
            }
        }
        at = next;
    }
    slice.text = content.substr(begin, end - begin);
    return slice;
}

}  // namespace daybook::memory
