#include "host/surface/line_reader.hpp"

#include <algorithm>
#include <string>

namespace daybook {

Result<> read_lines(Os& os,
                    int fd,
                    std::size_t max_bytes,
                    const std::function<void(const ReadLine&)>& take) {
    constexpr std::size_t kChunk = 1UL << 20U;
    std::string line;
    std::uint64_t number = 0;
    for (std::uint64_t offset = 0;;) {
        auto chunk = os.read_at(fd, offset, kChunk);
        if (!chunk) {
            return chunk.error();
        }
        if (chunk->empty()) {
            break;
        }
        offset += chunk->size();
        for (std::string_view rest = *chunk; !rest.empty();) {
            const std::size_t end = rest.find('\n');
            const std::string_view part = rest.substr(0, end);
            line.append(part.substr(0, max_bytes + 1 - std::min(line.size(), max_bytes + 1)));
            if (end == std::string_view::npos) {
                break;
            }
            take({++number, line, false});
            line.clear();
            rest.remove_prefix(end + 1);
        }
    }
    if (!line.empty()) {
        take({++number, line, true});
    }
    return {};
}

}  // namespace daybook
