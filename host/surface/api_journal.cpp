// Requests about the journals: a desk's, or the host's own as "_host".
#include <algorithm>
#include <utility>

#include "host/journal/journal_reader.hpp"
#include "host/surface/api.hpp"
#include "host/surface/host.hpp"
#include "host/surface/journal_tail.hpp"

namespace daybook::api {
namespace {

constexpr std::size_t kMaxResponseBytes = 8UL * 1024 * 1024;
constexpr std::string_view kHostJournal = "_host";

Result<const Journal*> find_journal(const Host& host, const std::string& name) {
    if (name == kHostJournal) {
        return &host.journal();
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    return &(*desk)->journal();
}

Json days_json(const std::vector<DeskDate>& days) {
    Json list = Json::array();
    const std::size_t first = days.size() > 400 ? days.size() - 400 : 0;
    for (std::size_t i = first; i < days.size(); ++i) {
        list.push(days[i].str());
    }
    return list;
}

}  // namespace

Result<Json> journal_show(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const std::string day_text = args.text_or("day", "", 32);
    const std::vector<std::string> types = args.texts("types");
    const auto limit = static_cast<std::size_t>(args.integer_or("limit", 200, 1, 10000));
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto journal = find_journal(host, name);
    if (!journal) {
        return journal.error();
    }
    const JournalReader reader = JournalReader::of(**journal);
    auto days = reader.days();
    if (!days) {
        return days.error();
    }
    DeskDate day = days->empty() ? (*journal)->today() : days->back();
    if (!day_text.empty()) {
        auto parsed = DeskDate::parse(day_text);
        if (!parsed) {
            return parsed.error().during("argument \"day\"");
        }
        day = *parsed;
    }
    auto lines = reader.read_day(day);
    if (!lines) {
        return lines.error();
    }
    std::erase_if(lines->records,
                  [&](const JournalRecord& record) { return !is_wanted(record, types); });
    const std::size_t all = lines->records.size();
    Json::Array newest_first;
    std::size_t bytes = 0;
    for (std::size_t i = all;
         i-- > 0 && newest_first.size() < limit && bytes < kMaxResponseBytes;) {
        newest_first.push_back(record_json(lines->records[i]));
        bytes += newest_first.back().dump().size();
    }
    std::reverse(newest_first.begin(), newest_first.end());
    const std::size_t left_out = all - newest_first.size();
    return Json::object()
        .set("desk", name)
        .set("day", day.str())
        .set("days", days_json(*days))
        .set("records", Json::array(std::move(newest_first)))
        .set("left_out", left_out)
        .set("bad_lines", static_cast<std::int64_t>(lines->bad))
        .set("newer_lines", static_cast<std::int64_t>(lines->newer));
}

void journal_tail(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    TailRequest request;
    request.types = args.texts("types");
    request.last = static_cast<std::size_t>(args.integer_or("last", 10, 0, 1000));
    request.follow = !args.value("follow").is_null() ? args.flag("follow") : true;
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto journal = find_journal(host, name);
    if (!journal) {
        reply->done(journal.error());
        return;
    }
    std::shared_ptr<const void> owner;
    if (auto desk = name == "_host" ? Result<Desk*>(nullptr) : host.desk(name); desk && *desk) {
        owner = (*desk)->shared_from_this();
    }
    follow_journal(host, **journal, std::move(request), reply, std::move(owner));
}

}  // namespace daybook::api
