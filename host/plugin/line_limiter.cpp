#include "host/plugin/line_limiter.hpp"

#include <algorithm>
#include <utility>

#include "host/os/desk_path.hpp"

namespace daybook {

bool LineLimiter::admit(SteadyTime now, std::uint64_t& skipped) {
    skipped = 0;
    if (now - window_start_ >= kWindow) {
        window_start_ = now;
        lines_ = 0;
        skipped = std::exchange(dropped_, 0);
    }
    if (lines_ < kMaxLines) {
        ++lines_;
        return true;
    }
    ++dropped_;
    return false;
}

void LineSplitter::take(std::string_view bytes, const std::function<void(std::string)>& on_line) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        line_ += part.substr(0, std::min(part.size(), kMaxLine - line_.size()));
        if (end == std::string_view::npos) {
            return;
        }
        bytes.remove_prefix(end + 1);
        flush(on_line);
    }
}

void LineSplitter::flush(const std::function<void(std::string)>& on_line) {
    const std::string line = std::exchange(line_, {});
    if (!line.empty()) {
        on_line(printable(line, kMaxLine));
    }
}

}  // namespace daybook
