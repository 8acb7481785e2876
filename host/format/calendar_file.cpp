#include "host/format/calendar_file.hpp"

#include <optional>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxCalendar = 4UL * 1024 * 1024;

/// nullopt: there is no such file. A package may link its files, so links are fine here.
Result<std::optional<std::string>> read_calendar(Os& os,
                                                 const std::filesystem::path& folder,
                                                 const std::string& file) {
    auto dir = os.open_root(folder);
    auto fd =
        dir ? os.open_beneath(dir->get(), file, OpenMode::read) : Result<UniqueFd>(dir.error());
    if (!fd) {
        return fd.error().code() == Errc::not_found
                   ? Result<std::optional<std::string>>(std::nullopt)
                   : Result<std::optional<std::string>>(fd.error());
    }
    auto text = os.read_all(fd->get(), kMaxCalendar);
    if (!text) {
        return text.error().during("read " + (folder / file).string());
    }
    return std::optional<std::string>(std::move(*text));
}

}  // namespace

std::vector<std::filesystem::path> calendar_folders(const std::filesystem::path& share,
                                                    const std::filesystem::path& state,
                                                    const std::filesystem::path& config_folder) {
    std::vector<std::filesystem::path> folders = {share / "calendars", state / "calendars"};
    if (!config_folder.empty() && config_folder != state) {
        folders.push_back(config_folder / "calendars");
    }
    return folders;
}

Result<Calendar> load_calendar(Os& os,
                               const std::vector<std::filesystem::path>& folders,
                               const std::string& id) {
    if (!is_plain_name(id)) {
        return Error(Errc::invalid,
                     "calendar \"" + printable(id, 64) + "\": expected a plain name such as nse");
    }
    const std::string file = id + ".json";
    std::optional<Calendar> calendar;
    std::string places;
    for (const std::filesystem::path& folder : folders) {
        const std::string path = (folder / file).string();
        places += (places.empty() ? "" : ", ") + path;
        auto text = read_calendar(os, folder, file);
        if (!text) {
            return text.error();
        }
        if (!*text) {
            continue;
        }
        if (calendar) {
            if (auto laid = calendar->overlay(**text, path); !laid) {
                return laid.error();
            }
            continue;
        }
        auto parsed = Calendar::parse(**text, path);
        if (!parsed) {
            return parsed.error();
        }
        calendar = std::move(*parsed);
    }
    if (!calendar) {
        return Error(Errc::not_found, "calendar " + id + ": none of these exists: " + places);
    }
    return std::move(*calendar);
}

}  // namespace daybook
