#include "host/checkpoint/attributes.hpp"

#include <algorithm>
#include <optional>

#include "host/checkpoint/commit_record.hpp"

namespace daybook {
namespace {

constexpr unsigned kUsualFile = 0644;
constexpr unsigned kUsualProgram = 0755;

std::optional<unsigned> from_octal(std::string_view text) {
    if (text.size() != 4 || text.find_first_not_of("01234567") != std::string_view::npos) {
        return std::nullopt;
    }
    unsigned value = 0;
    for (const char digit : text) {
        value = value * 8 + static_cast<unsigned>(digit - '0');
    }
    return value;
}

std::string_view take_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

void add_lines(std::string& text,
               std::string_view word,
               const std::map<std::string, unsigned>& entries) {
    for (const auto& [path, permissions] : entries) {
        text.append(word)
            .append(" ")
            .append(octal_text(permissions))
            .append(" ")
            .append(quote_path(path))
            .append("\n");
    }
}

}  // namespace

std::string octal_text(unsigned permissions) {
    std::string text(4, '0');
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[text.size() - 1 - i] = static_cast<char>('0' + ((permissions >> (3 * i)) & 7U));
    }
    return text;
}

bool is_odd_folder_mode(unsigned permissions) noexcept {
    constexpr unsigned kOwners = 0700;
    constexpr unsigned kSetUserOrSticky = 05000;
    return (permissions & kOwners) != kOwners || (permissions & kSetUserOrSticky) != 0;
}

Attributes Attributes::of(const std::map<std::string, TreeFile>& files,
                          const std::map<std::string, unsigned>& odd_permissions,
                          std::map<std::string, unsigned> empty_folders,
                          std::map<std::string, unsigned> odd_folders) {
    Attributes made;
    made.empty_folders_ = std::move(empty_folders);
    made.odd_folders_ = std::move(odd_folders);
    const auto permissions_of = [&](const std::string& path, unsigned usual) {
        const auto odd = odd_permissions.find(path);
        return odd == odd_permissions.end() ? usual : odd->second;
    };
    std::map<unsigned, std::size_t> counts;
    for (const auto& [path, file] : files) {
        if (file.mode == kModeFile) {
            ++counts[permissions_of(path, kUsualFile)];
        }
    }
    std::size_t most = 0;
    for (const auto& [permissions, count] : counts) {
        if (count > most || (count == most && permissions == kUsualFile)) {
            most = count;
            made.file_permissions_ = permissions;
        }
    }
    for (const auto& [path, file] : files) {
        if (file.mode == kModeFile) {
            made.note_file(path, file, permissions_of(path, kUsualFile));
        } else if (file.mode == kModeProgram) {
            made.note_file(path, file, permissions_of(path, kUsualProgram));
        }
    }
    return made;
}

Attributes Attributes::parse(std::string_view text) {
    Attributes read;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string_view word = take_word(line);
        const auto permissions = from_octal(take_word(line));
        const auto path = unquote_path(line);
        if (!permissions || !path) {
            continue;
        }
        if (word == "files") {
            read.file_permissions_ = *permissions;
        } else if (word == "file") {
            read.files_[*path] = *permissions;
        } else if (word == "empty") {
            read.empty_folders_[*path] = *permissions;
        } else if (word == "folder") {
            read.odd_folders_[*path] = *permissions;
        }
    }
    return read;
}

std::string Attributes::encode() const {
    std::string text;
    if (file_permissions_ != kUsualFile) {
        text = "files " + octal_text(file_permissions_) + "\n";
    }
    add_lines(text, "file", files_);
    add_lines(text, "empty", empty_folders_);
    add_lines(text, "folder", odd_folders_);
    return text;
}

unsigned Attributes::permissions_of(const std::string& path, const TreeFile& file) const {
    const auto line = files_.find(path);
    if (line != files_.end()) {
        return line->second;
    }
    return file.mode == kModeProgram ? kUsualProgram : file_permissions_;
}

bool Attributes::note_file(const std::string& path, const TreeFile& file, unsigned permissions) {
    // A folder with something in it is not empty.
    bool changed = false;
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
        changed = empty_folders_.erase(path.substr(0, slash)) > 0 || changed;
    }
    const auto line = files_.find(path);
    const unsigned without = file.mode == kModeProgram ? kUsualProgram : file_permissions_;
    const bool wants_line = file.mode != kModeLink && permissions != without;
    if (!wants_line) {
        return files_.erase(path) > 0 || changed;
    }
    if (line != files_.end() && line->second == permissions) {
        return changed;
    }
    files_[path] = permissions;
    return true;
}

bool Attributes::forget_file(const std::string& path) {
    return files_.erase(path) > 0;
}

bool Attributes::note_empty_folder(const std::string& path, unsigned permissions) {
    const auto [line, is_new] = empty_folders_.emplace(path, permissions);
    return is_new;
}

bool Attributes::is_same(const Attributes& other,
                         const std::map<std::string, TreeFile>& files) const {
    if (empty_folders_ != other.empty_folders_ || odd_folders_ != other.odd_folders_) {
        return false;
    }
    return std::all_of(files.begin(), files.end(), [&](const auto& named) {
        const auto& [path, file] = named;
        return (file.mode != kModeFile && file.mode != kModeProgram) ||
               permissions_of(path, file) == other.permissions_of(path, file);
    });
}

}  // namespace daybook
