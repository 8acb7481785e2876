#include "host/gate/ledger.hpp"

#include <algorithm>

namespace daybook {
namespace {

constexpr std::size_t kMaxLedger = 64UL * 1024 * 1024;
constexpr std::string_view kRestore = "restore";
constexpr std::string_view kBan = "ban";

}  // namespace

std::string LedgerRecord::to_line(Timestamp at) const {
    Json json = Json::object()
                    .set("v", 1)
                    .set("seq", static_cast<std::int64_t>(seq))
                    .set("ts", to_rfc3339(at))
                    .set("type", type);
    if (!key.empty()) {
        json.set("key", key);
    }
    return json.set("data", data).dump() + "\n";
}

std::optional<LedgerRecord> LedgerRecord::from_line(std::string_view line) {
    auto json = Json::parse(line);
    if (!json || (*json)["seq"].as_integer() <= 0 || (*json)["type"].as_string().empty()) {
        return std::nullopt;
    }
    LedgerRecord record;
    record.seq = static_cast<std::uint64_t>((*json)["seq"].as_integer());
    record.type = (*json)["type"].as_string();
    record.key = (*json)["key"].as_string();
    record.data = (*json)["data"];
    return record;
}

/// Each record leads to a state; a state is the one before it and perhaps one record more. A
/// restore leads back to an earlier state, so nothing is ever copied or taken back.
EffectiveLedger effective_ledger(const std::vector<LedgerRecord>& records) {
    struct State {
        std::size_t before = 0;   ///< index of the state it goes on from
        std::uint64_t added = 0;  ///< record, 0 = none
        bool from_file = false;
    };
    std::vector<State> states(1);
    EffectiveLedger effective;
    for (const LedgerRecord& record : records) {
        State state{states.size() - 1, record.seq, false};
        if (record.type == kBan) {
            effective.bans.push_back(record.seq);
            state.added = 0;
            state.from_file = states.back().from_file;
        } else if (record.type == kRestore) {
            state.added = 0;
            state.from_file = !record.data["file"].as_string().empty();
            if (!state.from_file) {
                const auto head = static_cast<std::size_t>(record.data["head"].as_integer());
                state.before = std::min(head, states.size() - 1);
                state.from_file = states[state.before].from_file;
            }
        }
        states.push_back(state);
    }
    effective.memory_is_from_file = states.back().from_file;
    for (std::size_t at = states.size() - 1; at != 0; at = states[at].before) {
        if (states[at].added != 0) {
            effective.live.push_back(states[at].added);
        }
    }
    std::reverse(effective.live.begin(), effective.live.end());
    return effective;
}

std::uint64_t ledger_head_in(std::string_view text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

Result<Ledger> Ledger::open(Os& os, const Clock& clock, int dir, std::string folder) {
    const std::string place = folder + "/ledger.jsonl";
    const std::string doing = "open " + place;
    if (auto made = make_directories(os, dir, folder); !made) {
        return made.error().during(doing);
    }
    auto text = read_file(os, dir, place, kMaxLedger);
    if (!text && text.error().code() != Errc::not_found) {
        return text.error().during(doing);
    }
    auto file = os.open_beneath(dir, place, OpenMode::append);
    if (!file) {
        return file.error().during(doing);
    }
    Ledger ledger(os, clock, std::move(*file));
    ledger.text_ = text ? std::move(*text) : "";
    const std::size_t whole = ledger.text_.rfind('\n') + 1;  // npos + 1 is 0
    if (whole != ledger.text_.size()) {
        ledger.text_.resize(whole);
        auto cut = os.truncate(ledger.file_.get(), whole);
        if (cut) {
            cut = os.full_sync(ledger.file_.get());
        }
        if (!cut) {
            return cut.error().during(doing);
        }
    }
    if (!text) {
        auto parent = os.open_beneath(dir, folder, OpenMode::directory);
        auto synced = parent ? os.full_sync(parent->get()) : Result<>(parent.error());
        if (!synced) {
            return synced.error().during(doing);
        }
    }
    for (std::string_view rest = ledger.text_; !rest.empty();) {
        auto record = LedgerRecord::from_line(rest.substr(0, rest.find('\n')));
        if (!record || record->seq != ledger.records_.size() + 1) {
            return Error(Errc::corrupt,
                         doing + ": line " + std::to_string(ledger.records_.size() + 1) +
                             " is no record, or out of order");
        }
        ledger.records_.push_back(std::move(*record));
        rest.remove_prefix(rest.find('\n') + 1);
    }
    return ledger;
}

Result<std::uint64_t> Ledger::append(LedgerRecord record) {
    if (failure_) {
        return Error(Errc::io, "append to the ledger: closed until the next start: " + *failure_);
    }
    const auto stands = std::find_if(records_.begin(), records_.end(), [&](const auto& each) {
        return !record.key.empty() && each.key == record.key;
    });
    if (stands != records_.end()) {
        return stands->seq;
    }
    record.seq = records_.size() + 1;
    const std::string line = record.to_line(clock_->now());
    auto written = os_->write_all(file_.get(), line);
    if (!written) {
        // Part of a line may be there; nothing may follow it.
        failure_ = written.error().message();
        if (os_->truncate(file_.get(), text_.size())) {
            failure_.reset();
        }
        return written.error().during("append to the ledger");
    }
    if (auto synced = os_->data_sync(file_.get()); !synced) {
        failure_ = synced.error().message();
        return synced.error().during("append to the ledger");
    }
    text_ += line;
    records_.push_back(std::move(record));
    return records_.back().seq;
}

}  // namespace daybook
