// Handing the desk a trigger ("daybook.triggers/1", ext/triggers.h).
#pragma once

#include <string>
#include <string_view>

#include <daybook/call.hpp>
#include <daybook/ext/triggers.h>

namespace daybook {

/// `kind` is fill, alert or job; a `key` seen before makes it a no-op. Returns the receipt as JSON:
/// {"trigger","duplicate"}; the trigger is durable then. Throws INVALID, REFUSED, FULL, UNSUPPORTED
/// (not wanted in the manifest).
inline std::string hand_over(const Call& call,
                             std::string_view kind,
                             std::string_view key,
                             std::string_view name,
                             std::string_view text) {
    const auto& table = call.extension<daybook_triggers>(DAYBOOK_EXT_TRIGGERS);
    return Call::ask([&](auto* to, auto sink) {
        return table.hand_over(call.handle(),
                               detail::to_str(kind),
                               detail::to_str(key),
                               detail::to_str(name),
                               detail::to_str(text),
                               to,
                               sink);
    });
}

}  // namespace daybook
