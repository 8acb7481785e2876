// Where a host's files lie: configuration, state, socket, log, and what stands beside the program.
//
// Three layouts (docs/operations.md): everything below one folder (--home DIR), one user's (XDG),
// and a service's
// (/etc, /var/lib, /run). The daemon and the command line use the same rules, so they find each
// other. Thread: [any].
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <daybook/result.hpp>

namespace daybook {

/// What the caller's flags say; unset = by the rules.
struct PlaceOptions {
    std::optional<std::filesystem::path> home;
    std::optional<std::filesystem::path> config;
    std::optional<std::filesystem::path> socket;
};

/// What the process's surroundings say. Tests make their own.
struct Surroundings {
    std::function<std::string(const char* name)> variable;  ///< "" = unset
    uid_t uid = 0;
    std::filesystem::path working_directory;
    std::filesystem::path program;  ///< this executable's own file
    std::filesystem::path service_config = "/etc/daybook/daybook.toml";

    static Surroundings of_process();
};

enum class Layout { home, user, service };

struct Places {
    Layout layout = Layout::user;
    std::filesystem::path home;    ///< of Layout::home, else empty
    std::filesystem::path config;  ///< daybook.toml
    std::filesystem::path state;   ///< the state folder (docs/formats.md, "Home")
    std::filesystem::path socket;  ///< the control socket, at most kMaxSocketPath bytes
    std::filesystem::path
        socket_note;  ///< file that holds the socket's path when it lies elsewhere, else empty
    std::filesystem::path log;     ///< folder of daybookd.log
    std::filesystem::path share;   ///< calendars/ and demo/
    std::filesystem::path runner;  ///< daybook-runner
    std::filesystem::path daemon;  ///< daybookd

    /// How to name this host on a command line: "--home /srv/desk", "--config …" or "".
    [[nodiscard]] std::string flags() const;
};

/// Longest path that fits a socket address, without its final NUL.
inline constexpr std::size_t kMaxSocketPath = 107;

/// Errors: invalid (a path with a NUL, or no folder can be derived: HOME is unset).
Result<Places> find_places(const PlaceOptions& options, const Surroundings& surroundings);

/// Text as one word for a shell: as it is when plain, else in single quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace daybook
