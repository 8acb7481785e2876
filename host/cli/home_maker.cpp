#include "host/cli/home_maker.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "host/os/os.hpp"
#include "host/surface/control_token.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook::cli {
namespace {

namespace fs = std::filesystem;

Result<> write_new(const fs::path& file, const std::string& text) {
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd) {
        return errno == EEXIST
                   ? Error(Errc::conflict,
                           file.string() + " is there already and is not overwritten")
                   : Error(Errc::io,
                           "make " + file.string() + ": " + std::generic_category().message(errno));
    }
    LinuxOs os;
    auto written = os.write_all(fd.get(), text);
    if (written) {
        written = os.full_sync(fd.get());
    }
    return written ? Result<>() : Result<>(written.error().during("write " + file.string()));
}

}  // namespace

Result<std::vector<fs::path>> make_home_at(const Places& places,
                                           const DeskConfig& desk,
                                           const std::optional<std::string>& replay_start) {
    std::error_code ignored;
    if (fs::exists(places.config, ignored)) {
        return Error(Errc::conflict,
                     places.config.string() + " is there already and is not overwritten");
    }
    const std::string text = starter_config(desk, replay_start);
    // What is written must be what the host reads: a path with a newline in it, say, fails here.
    if (auto parsed = Config::parse(text, places.config.string()); !parsed) {
        return parsed.error();
    }
    for (const fs::path& folder : {places.config.parent_path(), places.state}) {
        if (auto made = make_private_folders(folder); !made) {
            return made.error();
        }
    }
    LinuxOs os;
    auto state = StateFolder::open(os, places.state);
    if (!state) {
        return state.error();
    }
    if (auto token = load_or_make_token(os, state->dir()); !token) {
        return token.error();
    }
    // Last, so that a home that is half made can be made again.
    if (auto written = write_new(places.config, text); !written) {
        return written.error();
    }
    return std::vector<fs::path>{places.config,
                                 places.state / "format",
                                 places.state / kTokenFile,
                                 places.state / "workspace"};
}

}  // namespace daybook::cli
