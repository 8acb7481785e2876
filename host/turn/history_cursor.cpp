#include "host/turn/history_cursor.hpp"

#include <utility>

#include "host/session/session_file.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxDocuments = 2000;
constexpr std::size_t kMaxName = 128;

Json position_json(const GrowthPosition& position) {
    return Json::array({position.name, static_cast<std::int64_t>(position.offset), position.tail});
}

bool read_position(const Json& json, bool is_session, GrowthPosition& out) {
    const auto& items = json.items();
    if (items.size() != 3 || !items[0].is_string() || !items[2].is_string() ||
        items[1].as_integer(-1) < 0) {
        return false;
    }
    out.name = items[0].as_string();
    out.offset = static_cast<std::uint64_t>(items[1].as_integer());
    out.tail = items[2].as_string();
    if (out.name.empty()) {
        return out.offset == 0;
    }
    // The name becomes a file's: nothing but a session's or a day's is one.
    return is_session ? static_cast<bool>(SessionName::parse(out.name))
                      : static_cast<bool>(DeskDate::parse(out.name));
}

}  // namespace

std::string HistoryCursor::to_text() const {
    Json given_documents = Json::object();
    for (const auto& [name, print] : documents) {
        given_documents.set(name, print);
    }
    return Json::object()
        .set("v", kVersion)
        .set("desk", desk)
        .set("born", Json::array({born_day, static_cast<std::int64_t>(born_seq)}))
        .set("session", position_json(session))
        .set("journal", position_json(journal))
        .set("documents", std::move(given_documents))
        .set("group", Json::array({group, fingerprint, static_cast<std::int64_t>(given)}))
        .dump();
}

std::optional<HistoryCursor> HistoryCursor::parse(std::string_view text, std::string_view desk) {
    const auto json = Json::parse(text);
    if (!json || !json->is_object() || (*json)["v"].as_integer(0) != kVersion ||
        (*json)["desk"].as_string() != desk) {
        return std::nullopt;
    }
    HistoryCursor cursor;
    cursor.desk = desk;
    const auto& born = (*json)["born"].items();
    const auto& under_way = (*json)["group"].items();
    const Json& documents = (*json)["documents"];
    if (born.size() != 2 || under_way.size() != 3 || born[1].as_integer(-1) < 0 ||
        under_way[2].as_integer(-1) < 0 || !documents.is_object() ||
        documents.members().size() > kMaxDocuments ||
        !read_position((*json)["session"], true, cursor.session) ||
        !read_position((*json)["journal"], false, cursor.journal)) {
        return std::nullopt;
    }
    cursor.born_day = born[0].as_string();
    cursor.born_seq = static_cast<std::uint64_t>(born[1].as_integer());
    for (const auto& [name, print] : documents.members()) {
        if (name.size() > kMaxName || !print.is_string()) {
            return std::nullopt;
        }
        cursor.documents.emplace(name, print.as_string());
    }
    cursor.group = under_way[0].as_string();
    cursor.fingerprint = under_way[1].as_string();
    cursor.given = static_cast<std::uint64_t>(under_way[2].as_integer());
    return cursor;
}

}  // namespace daybook
