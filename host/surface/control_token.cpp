#include "host/surface/control_token.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace daybook {
namespace {

constexpr std::size_t kTokenDigits = 64;

bool is_token(std::string_view text) {
    return text.size() == kTokenDigits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

}  // namespace

Result<std::string> load_token(Os& os, int state_dir) {
    auto found = os.stat_beneath(state_dir, kTokenFile);
    if (!found) {
        return found.error();
    }
    if ((found->st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error(Errc::refused,
                     "read " + std::string(kTokenFile) +
                         ": others may read it; run chmod 600 on it, or remove it and restart the "
                         "host, which "
                         "makes a new one");
    }
    auto text = read_file(os, state_dir, kTokenFile, 4096);
    if (!text) {
        return text.error();
    }
    while (!text->empty() && text->back() == '\n') {
        text->pop_back();
    }
    if (!is_token(*text)) {
        return Error(Errc::corrupt,
                     "read " + std::string(kTokenFile) +
                         ": it does not hold 64 hexadecimal digits; remove it and restart the "
                         "host, which makes "
                         "a new one");
    }
    return text;
}

Result<std::string> load_or_make_token(Os& os, int state_dir) {
    auto token = load_token(os, state_dir);
    if (token || token.error().code() != Errc::not_found) {
        return token;
    }
    std::string made = random_hex(kTokenDigits / 2);
    auto written = write_file_durably(os, state_dir, kTokenFile, made + "\n", 0600);
    if (!written) {
        return written.error().during("make the control token");
    }
    return made;
}

bool same_token(std::string_view known, std::string_view given) noexcept {
    unsigned difference = known.size() == given.size() ? 0U : 1U;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const char other = i < given.size() ? given[i] : '\0';
        difference |= static_cast<unsigned>(static_cast<unsigned char>(known[i])) ^
                      static_cast<unsigned>(static_cast<unsigned char>(other));
    }
    return difference == 0 && !known.empty();
}

}  // namespace daybook
