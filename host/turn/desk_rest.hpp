// A desk at rest: nothing waits, nothing was cut, so nothing of it is held open but what is here.
//
// The mark sessions/<desk>/at_rest.json says so over a restart: a desk with one need not be opened
// to know that nothing is pending. It is written when the desk is closed and taken away, durably,
// before the desk accepts anything again. Lost or out of date, the desk is simply opened. Thread:
// [any], one at a time for a desk.
#pragma once

#include <optional>
#include <string>

#include <daybook/result.hpp>

#include "host/turn/desk.hpp"

namespace daybook {

struct DeskRest {
    DeskStatus status;             ///< as it was when the desk was closed
    std::optional<Timestamp> due;  ///< of the open session's rollover
};

/// What a mark depends on: the desk's zone, calendar and rollover, and the calendar's files as they
/// are. Errors: not_found (no such calendar or zone), io.
Result<std::string> rest_stamp(const DeskServices& services, const DeskConfig& config);

/// Errors: io, full.
Result<> leave_mark(const DeskServices& services,
                    const std::string& desk,
                    const DeskRest& rest,
                    const std::string& stamp);
/// nullopt: no mark, or one of another stamp.
std::optional<DeskRest> read_mark(const DeskServices& services,
                                  const std::string& desk,
                                  const std::string& stamp);
/// Of a desk that has nothing on the disk yet, so nothing can be pending. nullopt: something of it
/// is there, or its calendar or zone is not.
std::optional<DeskRest> fresh_rest(const DeskServices& services, const DeskConfig& config);
/// Durable when it returns; fine when there is none. Errors: io.
Result<> lift_mark(Os& os, int home, const std::string& desk);

/// Whether a desk of that configuration could find its calendar and zone. Errors: not_found,
/// invalid, io.
Result<> check_desk_days(const DeskServices& services, const DeskConfig& config);
/// When the desk's next rollover is, from its calendar's files; "" = none known.
[[nodiscard]] std::string next_rollover_of(const DeskServices& services, const DeskConfig& config);

}  // namespace daybook
