#include "host/os/key_files.hpp"

#include <algorithm>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

/// The control socket's token lies in the same folder and is nobody's credential.
constexpr std::string_view kTokenEnd = ".token";

Result<> check_name(const std::string& name) {
    if (!is_plain_name(name) || name.starts_with('.') || name.ends_with(kTokenEnd)) {
        return Error(Errc::refused,
                     "credential \"" + printable(name, 80) +
                         "\": expected a plain name ([A-Za-z0-9._-], at most 64) that does not end "
                         "in .token");
    }
    return {};
}

/// What a header may carry. The value itself is never in a message.
Result<std::string> one_line(const std::string& name, std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
        text.pop_back();
    }
    const bool is_fine = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7f;
    });
    if (!is_fine) {
        return Error(Errc::refused,
                     "credential " + name + ": expected one line of printable text without spaces");
    }
    return text;
}

}  // namespace

Result<std::string> KeyFiles::read(const std::string& name) const {
    if (auto named = check_name(name); !named) {
        return named.error();
    }
    for (const std::filesystem::path& folder : {from_system_, folder_}) {
        if (folder.empty()) {
            continue;
        }
        const auto dir = os_.open_root(folder);
        if (!dir) {
            continue;
        }
        const auto status = os_.stat_beneath(dir->get(), name);
        if (!status && status.error().code() == Errc::not_found) {
            continue;
        }
        if (!status) {
            return status.error().during("credential " + name);
        }
        if ((status->st_mode & (S_IRWXG | S_IRWXO)) != 0 && folder != from_system_) {
            return Error(Errc::refused,
                         "credential " + name + ": others may read its file; run: chmod 600 " +
                             (folder / name).string());
        }
        auto text = read_file(os_, dir->get(), name, kMaxBytes);
        return text ? one_line(name, *std::move(text))
                    : Result<std::string>(text.error().during("credential " + name));
    }
    return Error(Errc::auth,
                 "credential " + name + ": there is none in " + folder_.string() +
                     "; set it with: daybook key set " + name);
}

Result<> KeyFiles::set(const std::string& name, std::string_view value) const {
    if (auto named = check_name(name); !named) {
        return named;
    }
    if (value.size() > kMaxBytes) {
        return Error(Errc::refused, "credential " + name + ": it is over 8 KiB");
    }
    auto text = one_line(name, std::string(value));
    if (!text) {
        return text.error();
    }
    const auto dir = os_.open_root(folder_);
    return dir ? write_file_durably(os_, dir->get(), name, *text + "\n", 0600)
               : Result<>(dir.error());
}

Result<> KeyFiles::remove(const std::string& name) const {
    if (auto named = check_name(name); !named) {
        return named;
    }
    const auto dir = os_.open_root(folder_);
    return dir ? os_.remove(dir->get(), name) : Result<>(dir.error());
}

Result<std::vector<std::string>> KeyFiles::list() const {
    const auto dir = os_.open_root(folder_);
    if (!dir) {
        return dir.error();
    }
    auto entries = os_.list(dir->get(), ".");
    if (!entries) {
        return entries.error();
    }
    std::vector<std::string> names;
    for (const DirectoryEntry& entry : *entries) {
        if (entry.is_regular && check_name(entry.name)) {
            names.push_back(entry.name);
        }
    }
    return names;
}

}  // namespace daybook
