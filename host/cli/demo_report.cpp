#include "host/cli/demo_report.hpp"

#include <set>

#include "host/cli/table.hpp"
#include "host/os/clock.hpp"

namespace daybook::cli {
namespace {

constexpr std::int64_t kMany = 10000;

bool is_demo_turn(const std::string& kind) {
    return kind == "message" || kind == "job" || kind == "alert" || kind == "fill";
}

void count_record(const Json& record, DemoDay& day, std::set<std::string>& closed) {
    const std::string& type = record["type"].as_string();
    const Json& data = record["data"];
    if (type == "turn_end" && data["outcome"].as_string() == "completed" &&
        is_demo_turn(data["kind"].as_string())) {
        ++day.turns;
    } else if (type == "note_written") {
        ++day.notes;
    } else if (type == "write_refused") {
        ++day.refused;
    } else if (type == "rollover" && data["step"].as_string() == "folded") {
        closed.insert(data["session"].as_string());
    }
}

Result<> count_checkpoints(Client& client,
                           const std::string& desk,
                           std::map<std::string, DemoDay>& days) {
    auto shown = client.call("desk.show", Json::object().set("desk", desk));
    if (!shown) {
        return shown.error();
    }
    auto zone = Zone::find((*shown)["zone"].as_string());
    auto listed =
        client.call("checkpoint.list", Json::object().set("desk", desk).set("limit", kMany));
    if (!zone || !listed) {
        return zone ? Result<>(listed.error()) : Result<>(zone.error());
    }
    for (const Json& checkpoint : (*listed)["checkpoints"].items()) {
        auto at = parse_rfc3339(checkpoint["at"].as_string());
        const auto found = at ? days.find(zone->date_of(*at).str()) : days.end();
        if (found != days.end()) {
            ++found->second.checkpoints;
        }
    }
    return {};
}

}  // namespace

Result<std::map<std::string, DemoDay>> count_days(Client& client,
                                                  const std::string& desk,
                                                  const std::vector<std::string>& days) {
    std::map<std::string, DemoDay> counts;
    std::set<std::string> closed;
    for (const std::string& day : days) {
        counts[day];
        auto shown = client.call("journal.show",
                                 Json::object()
                                     .set("desk", desk)
                                     .set("day", day)
                                     .set("limit", kMany)
                                     .set("types",
                                          Json::array()
                                              .push("turn_end")
                                              .push("note_written")
                                              .push("write_refused")
                                              .push("rollover")));
        if (!shown) {
            return shown.error();
        }
        for (const Json& record : (*shown)["records"].items()) {
            count_record(record, counts[day], closed);
        }
    }
    for (const std::string& session : closed) {
        if (const auto found = counts.find(session.substr(0, 10)); found != counts.end()) {
            ++found->second.rollovers;
        }
    }
    if (auto counted = count_checkpoints(client, desk, counts); !counted) {
        return counted.error();
    }
    return counts;
}

Result<std::set<std::string>> keys_done(Client& client,
                                        const std::string& desk,
                                        const std::vector<std::string>& days) {
    constexpr std::string_view kPrefix = "trigger:";
    std::map<std::string, std::string> key_of;  // by the trigger's id
    std::set<std::string> done;
    for (const std::string& day : days) {
        Json types = Json::array();
        for (const char* type : {"message", "job", "alert", "fill", "turn_end"}) {
            types.push(type);
        }
        auto shown = client.call("journal.show",
                                 Json::object()
                                     .set("desk", desk)
                                     .set("day", day)
                                     .set("limit", kMany)
                                     .set("types", std::move(types)));
        if (!shown) {
            return shown.error();
        }
        for (const Json& record : (*shown)["records"].items()) {
            const std::string& key = record["key"].as_string();
            if (key.starts_with(kPrefix)) {
                key_of[record["id"].as_string()] = key.substr(kPrefix.size());
            }
            if (record["type"].as_string() != "turn_end") {
                continue;
            }
            if (const auto found = key_of.find(record["data"]["trigger"].as_string());
                found != key_of.end()) {
                done.insert(found->second);
            }
        }
    }
    return done;
}

Json day_json(const std::string& day, const DemoDay& counts) {
    return Json::object()
        .set("event", "day")
        .set("day", day)
        .set("turns", counts.turns)
        .set("notes", counts.notes)
        .set("checkpoints", counts.checkpoints)
        .set("rollovers", counts.rollovers)
        .set("refused", counts.refused);
}

std::string days_table(const std::map<std::string, DemoDay>& days) {
    Table table({"DAY", "TURNS", "NOTES", "CHECKPOINTS", "ROLLOVERS", "REFUSED"});
    DemoDay all;
    const auto row = [&](const std::string& name, const DemoDay& day) {
        table.add({name,
                   std::to_string(day.turns),
                   std::to_string(day.notes),
                   std::to_string(day.checkpoints),
                   std::to_string(day.rollovers),
                   std::to_string(day.refused)});
    };
    for (const auto& [name, day] : days) {
        row(name, day);
        all.turns += day.turns;
        all.notes += day.notes;
        all.checkpoints += day.checkpoints;
        all.rollovers += day.rollovers;
        all.refused += day.refused;
    }
    row("all", all);
    return table.str();
}

}  // namespace daybook::cli
