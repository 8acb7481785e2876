#include "host/gate/content_rules.hpp"

#include <algorithm>
#include <set>

#include "host/format/json.hpp"
#include "host/gate/secret_scan.hpp"
#include "host/os/utf8.hpp"

namespace daybook {
namespace {

Error refused(const DeskPath& path, std::string_view rule) {
    return Error(Errc::refused, "write " + path.str() + ": " + std::string(rule));
}

/// The line of the first character that may not stand in a text file, and what is wrong with it; 0
/// = none.
std::pair<std::size_t, std::string_view> find_bad_character(std::string_view text) {
    std::size_t line = 1;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_sequence_at(text, i);
        if (length == 0) {
            return {line, "the text is not valid UTF-8"};
        }
        const char32_t c = utf8_code_point(text.substr(i, length));
        if (c == 0) {
            return {line, "the text holds a NUL byte"};
        }
        const bool is_layout = c == '\n' || c == '\t' || c == '\r';
        if (!is_layout && (c < 0x20 || (c >= 0x7F && c < 0xA0))) {
            return {line, "the text holds a control character"};
        }
        line += c == '\n' ? 1U : 0U;
        i += length;
    }
    return {0, ""};
}

}  // namespace

std::size_t max_bytes_of(const DeskPath& path) noexcept {
    if (path.str() == "Memory.md") {
        return kMaxMemoryFile;
    }
    return path.str().starts_with("notes/") ? kMaxNotesFile : kMaxOtherFile;
}

std::vector<SecretFound> scan_secrets(std::string_view text) {
    const FoldedText folded = FoldedText::of(text);
    std::vector<SecretFound> found;
    scan_keys(folded, found);
    scan_numbers(folded, found);
    std::sort(found.begin(), found.end(), [](const SecretFound& a, const SecretFound& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<SecretFound> apart;
    for (SecretFound& secret : found) {
        if (apart.empty() || secret.begin >= apart.back().end) {
            apart.push_back(std::move(secret));
        } else {
            apart.back().end = std::max(apart.back().end, secret.end);
        }
    }
    return apart;
}

std::optional<std::string> find_secret(std::string_view text) {
    const auto found = scan_secrets(text);
    return found.empty() ? std::nullopt : std::optional<std::string>(found.front().rule);
}

std::string mask_secrets(std::string_view text) {
    std::string masked;
    std::size_t from = 0;
    for (const SecretFound& secret : scan_secrets(text)) {
        masked += text.substr(from, secret.begin - from);
        masked += "[masked: " + std::string(secret.rule) + "]";
        from = secret.end;
    }
    masked += text.substr(from);
    return masked;
}

Result<> check_content(const DeskPath& path,
                       std::string_view old_content,
                       std::string_view new_content) {
    const std::size_t limit = max_bytes_of(path);
    if (new_content.size() > limit && new_content.size() >= old_content.size()) {
        return refused(path,
                       "the file would have " + std::to_string(new_content.size()) +
                           " bytes, at most " + std::to_string(limit) + " are allowed");
    }
    if (const auto [line, fault] = find_bad_character(new_content); line != 0) {
        return refused(path, std::string(fault) + " in line " + std::to_string(line));
    }
    // What the owner wrote there is the owner's business; the whole is looked at, so that no secret
    // comes in two halves.
    const auto secrets = scan_secrets(new_content);
    if (secrets.empty()) {
        return {};
    }
    std::set<std::string> there;
    for (const SecretFound& secret : scan_secrets(old_content)) {
        there.insert(secret.value);
    }
    for (const SecretFound& secret : secrets) {
        if (!there.contains(secret.value)) {
            return refused(
                path, "the text holds what looks like a secret (" + std::string(secret.rule) + ")");
        }
    }
    return {};
}

}  // namespace daybook
