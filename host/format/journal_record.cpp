#include "host/format/journal_record.hpp"

#include <array>
#include <cstdio>

#include "host/format/member.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kVersion = 1;

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

}  // namespace

Result<std::string> JournalRecord::to_line() const {
    Json json = Json::object();
    json.set("v", kVersion).set("seq", std::size_t{seq}).set("id", id).set("ts", to_rfc3339(ts));
    if (entry.ts_event) {
        json.set("ts_event", to_rfc3339(*entry.ts_event));
    }
    json.set("local", local).set("desk", desk);
    json.set("session", text_or_null(entry.session)).set("turn", text_or_null(entry.turn));
    json.set("type", entry.type).set("by", entry.by);
    if (!entry.key.empty()) {
        json.set("key", entry.key);
    }
    if (!entry.order.empty()) {
        json.set("order", entry.order);
    }
    json.set("data", entry.data);
    std::string line = json.dump();
    if (line.size() > kMaxJournalLine) {
        return Error(Errc::full,
                     "journal record " + entry.type + ": " + std::to_string(line.size()) +
                         " bytes are over the limit of " + std::to_string(kMaxJournalLine));
    }
    return line;
}

Result<JournalRecord> JournalRecord::from_line(std::string_view line) {
    JsonLimits limits;
    limits.max_bytes = kMaxJournalLine;
    auto json = Json::parse(line, limits);
    if (!json) {
        return Error(Errc::invalid, "journal line: " + json.error().message());
    }
    MemberReader reader(*json, "journal line");
    const std::int64_t version = reader.integer("v", 1);
    if (version > kVersion) {
        return Error(Errc::unsupported,
                     "journal line: version " + std::to_string(version) +
                         " is newer than this program's " + std::to_string(kVersion));
    }
    JournalRecord record;
    record.seq = static_cast<std::uint64_t>(reader.integer("seq", 1));
    record.id = reader.text("id");
    const std::string ts = reader.text("ts");
    const std::string ts_event = reader.optional_text("ts_event");
    record.local = reader.text("local");
    record.desk = reader.text("desk");
    record.entry.session = reader.optional_text("session");
    record.entry.turn = reader.optional_text("turn");
    record.entry.type = reader.text("type");
    record.entry.by = reader.text("by");
    record.entry.key = reader.optional_text("key");
    record.entry.order = reader.optional_text("order");
    record.entry.data = reader.optional_object("data");
    if (auto whole = reader.outcome(); !whole) {
        return whole.error();
    }
    auto at = parse_rfc3339(ts);
    if (!at) {
        return at.error().during("journal line");
    }
    record.ts = *at;
    if (!ts_event.empty()) {
        auto happened = parse_rfc3339(ts_event);
        if (!happened) {
            return happened.error().during("journal line");
        }
        record.entry.ts_event = *happened;
    }
    return record;
}

std::string JournalRecord::make_id(std::string_view desk, DeskDate day, std::uint64_t seq) {
    std::array<char, 48> tail = {};
    std::snprintf(tail.data(),
                  tail.size(),
                  "-%04d%02u%02u-%06llu",
                  static_cast<int>(day.value.year()),
                  static_cast<unsigned>(day.value.month()),
                  static_cast<unsigned>(day.value.day()),
                  static_cast<unsigned long long>(seq));
    return std::string(desk) + tail.data();
}

}  // namespace daybook
