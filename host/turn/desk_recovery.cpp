// A desk's start: what the journal says is still to do.
#include <algorithm>

#include "host/journal/journal_reader.hpp"
#include "host/turn/compression.hpp"
#include "host/turn/desk_impl.hpp"

namespace daybook {
namespace {

constexpr std::size_t kKeyFiles = 3;  // as many as the journal looks for duplicates in

/// Days to read: those not known to be settled, and the newest three.
Result<std::vector<DeskDate>> days_to_read(const JournalReader& reader,
                                           const std::string& settled_day) {
    auto days = reader.days();
    if (!days) {
        return days.error();
    }
    const auto settled = DeskDate::parse(settled_day);
    const std::size_t first_key_file = days->size() > kKeyFiles ? days->size() - kKeyFiles : 0;
    std::vector<DeskDate> read;
    for (std::size_t i = 0; i < days->size(); ++i) {
        if (!settled || !((*days)[i] < *settled) || i >= first_key_file) {
            read.push_back((*days)[i]);
        }
    }
    return read;
}

}  // namespace

Result<> Desk::Impl::recover() {
    const JournalReader reader = JournalReader::of(*stores.journal);
    const DeskState& state = stores.sessions->state();
    auto days = days_to_read(reader, state.settled_day);
    if (!days) {
        return days.error().during("read the journal");
    }
    JournalScanner scanner;
    for (const DeskDate day : *days) {
        auto lines = reader.read_day(day);
        if (!lines) {
            return lines.error().during("read the journal of " + day.str());
        }
        for (const JournalRecord& record : lines->records) {
            scanner.take(record);
        }
    }
    next_turn = std::max(state.next_turn, scanner.last_turn() + 1);
    auto recovered = daybook::recover(scanner, *stores.journal, *stores.sessions);
    if (!recovered) {
        return recovered.error().during("recover what a crash cut");
    }
    // The journal knows it first: state.json follows with the desk's next work.
    paused = scanner.paused().value_or(state.paused);
    if (auto told = complete_compress_record(*stores.journal, *stores.sessions); !told) {
        return told;
    }
    for (const auto& [model, per_thousand] : state.calibration) {
        meter.calibrate(model, per_thousand);
    }
    meter.restore(stores.sessions->conversation());
    known = scanner.triggers();
    for (const CutTurn& turn : scanner.cut()) {
        known[turn.trigger] = true;  // those that run again are put right below
    }
    for (Trigger& trigger : recovered->pending) {
        known[trigger.id] = false;
        queue.push_recovered(std::move(trigger));
    }
    for (const std::vector<std::string>* sentences : {&stores.repairs, &recovered->sentences}) {
        for (const std::string& sentence : *sentences) {
            services.log(kLogWarn, sentence + " desk=" + config.name);
        }
    }
    update_board();
    return {};
}

}  // namespace daybook
