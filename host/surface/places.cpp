#include "host/surface/places.hpp"

#include <cstdlib>
#include <system_error>
#include <unistd.h>

#include "host/format/sha256.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

fs::path absolute(const fs::path& path, const Surroundings& surroundings) {
    const fs::path whole = path.is_absolute() ? path : surroundings.working_directory / path;
    fs::path normal = whole.lexically_normal();
    return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

/// An XDG folder: its variable when that is absolute, else the default below HOME. Empty: neither
/// is known.
fs::path user_folder(const Surroundings& surroundings,
                     const char* name,
                     std::string_view fallback) {
    if (const fs::path given = surroundings.variable(name); given.is_absolute()) {
        return given / "daybook";
    }
    const fs::path home = surroundings.variable("HOME");
    return home.is_absolute() ? home / fallback / "daybook" : fs::path();
}

/// First folder of a colon-separated list, as systemd's STATE_DIRECTORY may be.
fs::path first_of(const std::string& list) {
    return list.substr(0, list.find(':'));
}

/// A short path for a socket whose own place is too deep: named by a hash of that place.
fs::path short_socket(const fs::path& wanted, const Surroundings& surroundings) {
    const std::string name = sha256_hex(wanted.string()).substr(0, 16) + ".sock";
    const fs::path runtime = surroundings.variable("XDG_RUNTIME_DIR");
    if (runtime.is_absolute()) {
        const fs::path at = runtime / "daybook" / name;
        if (at.string().size() <= kMaxSocketPath) {
            return at;
        }
    }
    return fs::path("/tmp") / ("daybook-" + std::to_string(surroundings.uid)) / name;
}

void place_home(Places& places, const fs::path& home) {
    places.layout = Layout::home;
    places.home = home;
    places.config = home / "daybook.toml";
    places.state = home / "state";
    places.socket = home / "run" / "daybook.sock";
    places.log = places.state / "log";
}

void place_service(Places& places, const Surroundings& surroundings) {
    const auto or_else = [&](const char* name, const char* fallback) {
        const fs::path given = first_of(surroundings.variable(name));
        return given.is_absolute() ? given : fs::path(fallback);
    };
    places.layout = Layout::service;
    places.config = surroundings.service_config;
    places.state = or_else("STATE_DIRECTORY", "/var/lib/daybook");
    places.socket = or_else("RUNTIME_DIRECTORY", "/run/daybook") / "daybook.sock";
    places.log = or_else("LOGS_DIRECTORY", "/var/log/daybook");
}

Result<> place_user(Places& places, const Surroundings& surroundings) {
    const fs::path config = user_folder(surroundings, "XDG_CONFIG_HOME", ".config");
    places.layout = Layout::user;
    places.state = user_folder(surroundings, "XDG_STATE_HOME", ".local/state");
    if (config.empty() || places.state.empty()) {
        return Error(
            Errc::invalid,
            "find the folders: neither HOME nor the XDG folders are set; name a folder with "
            "--home DIR");
    }
    places.config = config / "daybook.toml";
    const fs::path runtime = surroundings.variable("XDG_RUNTIME_DIR");
    places.socket =
        runtime.is_absolute() ? runtime / "daybook.sock" : places.state / "run" / "daybook.sock";
    places.log = places.state / "log";
    return {};
}

/// A service's files are meant when systemd started us, when its configuration is named, or when it
/// is the only one.
bool is_service(const PlaceOptions& options, const Surroundings& surroundings) {
    if (!surroundings.variable("STATE_DIRECTORY").empty()) {
        return true;
    }
    if (options.config) {
        return absolute(*options.config, surroundings) == surroundings.service_config;
    }
    std::error_code ignored;
    const fs::path own = user_folder(surroundings, "XDG_CONFIG_HOME", ".config") / "daybook.toml";
    return fs::exists(surroundings.service_config, ignored) && !fs::exists(own, ignored);
}

}  // namespace

Surroundings Surroundings::of_process() {
    Surroundings surroundings;
    surroundings.variable = [](const char* name) -> std::string {
        const char* value = std::getenv(name);
        return value == nullptr ? "" : value;
    };
    surroundings.uid = ::geteuid();
    std::error_code ignored;
    surroundings.working_directory = fs::current_path(ignored);
    surroundings.program = fs::read_symlink("/proc/self/exe", ignored);
    return surroundings;
}

std::string Places::flags() const {
    if (layout == Layout::home) {
        return "--home " + shell_word(home.string());
    }
    return "";
}

Result<Places> find_places(const PlaceOptions& options, const Surroundings& surroundings) {
    Places places;
    fs::path home = options.home.value_or(fs::path());
    if (home.empty() && !options.config) {
        home = surroundings.variable("DAYBOOK_HOME");
    }
    if (!home.empty()) {
        place_home(places, absolute(home, surroundings));
    } else if (is_service(options, surroundings)) {
        place_service(places, surroundings);
    } else if (auto placed = place_user(places, surroundings); !placed) {
        return placed.error();
    }
    if (options.config) {
        places.config = absolute(*options.config, surroundings);
    }
    if (options.socket) {
        places.socket = absolute(*options.socket, surroundings);
    }
    if (places.socket.string().size() > kMaxSocketPath) {
        if (options.socket) {
            return Error(Errc::invalid,
                         "use socket " + places.socket.string() + ": a socket's path has at most " +
                             std::to_string(kMaxSocketPath) + " bytes");
        }
        places.socket_note = places.socket.parent_path() / "socket";
        places.socket = short_socket(places.socket, surroundings);
    }
    for (const fs::path& path : {places.config, places.state, places.socket}) {
        if (path.string().find('\0') != std::string::npos) {
            return Error(Errc::invalid, "find the folders: a path holds a NUL byte");
        }
    }
    const fs::path prefix = surroundings.program.parent_path().parent_path();
    places.share = prefix / "share" / "daybook";
    places.runner = prefix / "libexec" / "daybook" / "daybook-runner";
    places.daemon = surroundings.program.parent_path() / "daybookd";
    return places;
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+:@%,=";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
        return std::string(text);
    }
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'') {
            word += "'\\''";
        } else {
            word += c;
        }
    }
    return word + "'";
}

}  // namespace daybook
