// The session keeper: before each turn and on a tick, does the desk go on in its open session, or
// does a day end first?
//
// Only decides; rollover.hpp acts. No I/O, no state of its own. Rules: docs/turns.md, "The day's
// end". Thread: [desk].
#pragma once

#include <optional>
#include <string>

#include "host/format/calendar.hpp"
#include "host/format/desk_state.hpp"
#include "host/os/clock.hpp"

namespace daybook {

struct KeeperPlan {
    enum class Step {
        resume,     ///< go on in the open session
        roll_over,  ///< close the session first, then ask again
        open,       ///< no session is open: make one for `day`
    };
    Step step = Step::open;
    DeskDate day;     ///< of the session to resume or open; of the one to close
    std::string why;  ///< of a rollover: "time", "first turn" or "cut" (it goes on after a crash)
};

class SessionKeeper {
  public:
    /// Everything is borrowed and outlives the keeper. `rollover` is the desk's configured time of
    /// day.
    SessionKeeper(const Calendar& calendar, const Zone& zone, TimeOfDay rollover)
        : calendar_(calendar), zone_(zone), rollover_(rollover) {}

    /// For a turn that starts now. `opened` is when the open session was opened.
    [[nodiscard]] KeeperPlan plan(const DeskState& state,
                                  std::optional<Timestamp> opened,
                                  Timestamp now) const;
    /// When the open session's timed rollover is due: nullopt = none by time (nothing open, no
    /// trading day, times unknown, opened after it, done already for that day). A rollover that a
    /// crash cut is due at once.
    [[nodiscard]] std::optional<Timestamp> due(const DeskState& state,
                                               std::optional<Timestamp> opened) const;
    /// The desk's day at an instant: the local date, or the day before while an overnight market
    /// still runs before the rollover.
    [[nodiscard]] DeskDate day_of(Timestamp at) const;
    /// Next timed rollover after `at` for a desk without an open session, for display; within 14
    /// days.
    [[nodiscard]] std::optional<Timestamp> next_due(Timestamp at) const;

  private:
    [[nodiscard]] std::optional<Timestamp> due_of(DeskDate day) const;

    const Calendar& calendar_;
    const Zone& zone_;
    TimeOfDay rollover_;
};

}  // namespace daybook
