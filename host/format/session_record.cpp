#include "host/format/session_record.hpp"

#include <array>

#include "host/format/member.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kVersion = 1;
/// A tool's result is at most one channel message (8 MiB); escaping may double it, the rest of the
/// line is small.
constexpr std::size_t kMaxTextBytes = 8UL * 1024 * 1024;
constexpr std::size_t kMaxLineBytes = 2 * kMaxTextBytes + 64UL * 1024;

constexpr std::array<std::pair<Source, std::string_view>, 8> kSources = {{
    {Source::owner, "owner"},
    {Source::desk, "desk"},
    {Source::job, "job"},
    {Source::fill, "fill"},
    {Source::tool, "tool"},
    {Source::alert, "alert"},
    {Source::page, "page"},
    {Source::host, "host"},
}};

constexpr std::array<std::string_view, 7> kKinds = {
    "opening", "trigger", "tool_call", "tool_result", "answer", "interrupted", "compress"};

}  // namespace

std::string_view name_of(Source source) noexcept {
    for (const auto& [value, name] : kSources) {
        if (value == source) {
            return name;
        }
    }
    return "host";
}

Result<Source> source_of(std::string_view name) {
    for (const auto& [value, known] : kSources) {
        if (known == name) {
            return value;
        }
    }
    return Error(Errc::invalid,
                 "source \"" + printable(name, 40) +
                     "\": expected owner, desk, job, fill, tool, alert, page or host");
}

std::string SessionRecord::to_line() const {
    Json json = Json::object();
    json.set("v", kVersion).set("seq", std::size_t{seq}).set("ts", to_rfc3339(ts));
    json.set("turn", turn.empty() ? Json() : Json(turn));
    json.set("kind", kind).set("source", name_of(source)).set("text", text);
    if (!extra.members().empty()) {
        json.set("extra", extra);
    }
    return json.dump();
}

Result<SessionRecord> SessionRecord::from_line(std::string_view line) {
    JsonLimits limits;
    limits.max_bytes = kMaxLineBytes;
    limits.max_string_bytes = kMaxTextBytes;
    auto json = Json::parse(line, limits);
    if (!json) {
        return Error(Errc::invalid, "session line: " + json.error().message());
    }
    MemberReader reader(*json, "session line");
    const std::int64_t version = reader.integer("v", 1);
    if (version > kVersion) {
        return Error(Errc::unsupported,
                     "session line: version " + std::to_string(version) +
                         " is newer than this program's " + std::to_string(kVersion));
    }
    SessionRecord record;
    record.seq = static_cast<std::uint64_t>(reader.integer("seq", 1));
    const std::string ts = reader.text("ts");
    record.turn = reader.optional_text("turn");
    record.kind = reader.text("kind");
    const std::string source = reader.text("source");
    record.text = reader.text("text");
    record.extra = reader.optional_object("extra");
    bool known = false;
    for (const std::string_view kind : kKinds) {
        known = known || record.kind == kind;
    }
    if (!known) {
        reader.fail("kind", "a kind of session line");
    }
    if (auto whole = reader.outcome(); !whole) {
        return whole.error();
    }
    auto at = parse_rfc3339(ts);
    if (!at) {
        return at.error().during("session line");
    }
    record.ts = *at;
    auto from = source_of(source);
    if (!from) {
        return from.error().during("session line");
    }
    record.source = *from;
    return record;
}

}  // namespace daybook
