#include "host/session/session_line.hpp"

#include <algorithm>

namespace daybook {
namespace {

constexpr std::size_t kMaxExtra = 256UL * 1024;
constexpr std::size_t kMaxExtraText = 16UL * 1024;

/// At most `max_bytes` of the text, up to a character's border.
std::string_view head_of(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) {
        return text;
    }
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end);
}

/// The longest head of the text that takes at most `max_bytes` once it is written as JSON.
std::string_view head_in_json(std::string_view text, std::size_t max_bytes) {
    // A byte becomes six at most, so what is halved each round soon fits.
    std::string_view head = head_of(text, max_bytes);
    while (!head.empty()) {
        const std::size_t bytes = Json(head).dump().size();
        if (bytes <= max_bytes) {
            break;
        }
        const std::size_t share = head.size() * max_bytes / bytes;
        head = head_of(head, std::min(share, head.size() - 1));
    }
    return head;
}

void cut_extra(SessionRecord& record) {
    Json extra = Json::object();
    for (const auto& [name, value] : record.extra.members()) {
        extra.append_member(
            name, value.is_string() ? Json(head_of(value.as_string(), kMaxExtraText)) : value);
    }
    record.extra = std::move(extra);
}

}  // namespace

Result<std::string> fit_line(SessionRecord& record) {
    std::string line = record.to_line() + "\n";
    if (line.size() <= kMaxSessionLine) {
        return line;
    }
    Json cut = Json::object();
    cut.set("text_bytes", record.text.size());
    if (const std::size_t bytes = record.extra.dump().size(); bytes > kMaxExtra) {
        cut_extra(record);
        cut.set("extra_bytes", bytes);
    }
    record.extra.set("cut", std::move(cut));
    SessionRecord bare = record;
    bare.text.clear();
    const std::size_t frame = bare.to_line().size() + 1;
    if (frame > kMaxSessionLine) {
        return Error(Errc::full,
                     "a line of kind " + record.kind + " is over " +
                         std::to_string(kMaxSessionLine) + " bytes without its text");
    }
    record.text = std::string(head_in_json(record.text, kMaxSessionLine - frame));
    return record.to_line() + "\n";
}

std::size_t weight_of(const SessionRecord& record) {
    std::size_t bytes = sizeof(SessionRecord) + record.text.size();
    for (const auto& [name, value] : record.extra.members()) {
        bytes += name.size() + sizeof(Json) + value.as_string().size();
    }
    return bytes;
}

std::size_t drop_oldest_turns(std::vector<SessionRecord>& records, std::size_t max_bytes) {
    std::size_t held = 0;
    std::size_t from = records.size();
    while (from > 1 && held <= max_bytes) {
        --from;
        held += weight_of(records[from]);
    }
    if (held <= max_bytes) {
        return 0;
    }
    ++from;  // the line that was too much
    const auto begins_turn = [](const SessionRecord& record) { return record.kind == "trigger"; };
    const auto keep_from =
        std::find_if(records.begin() + static_cast<std::ptrdiff_t>(std::min(from, records.size())),
                     records.end(),
                     begins_turn);
    auto cut = keep_from;
    if (keep_from == records.end()) {
        // One turn alone is too much: it is kept whole.
        const auto last = std::find_if(records.rbegin(), records.rend(), begins_turn);
        if (last == records.rend()) {
            return 0;
        }
        cut = std::prev(last.base());
    }
    const auto first = records.begin() + 1;
    const auto dropped = cut > first ? cut - first : 0;
    if (dropped > 0) {
        records.erase(first, cut);
    }
    return static_cast<std::size_t>(dropped);
}

}  // namespace daybook
