#include "plugins/memory/cut_text.hpp"

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

}  // namespace daybook::memory
