#include "host/turn/history_documents.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/format/sha256.hpp"
#include "host/os/clock.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/conversation.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxRecordText = 32UL * 1024;
constexpr std::size_t kMaxFile = 4UL * 1024 * 1024;
constexpr std::size_t kMaxFiles = 4096;
constexpr int kMaxDepth = 8;
constexpr std::size_t kPrint = 16;
/// Files of memory/ share so many groups.
constexpr std::size_t kBucketDigits = 2;

/// One line, its number, and the rest behind it.
struct Line {
    std::string_view text;
    std::size_t number = 0;
};

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back({text.substr(0, end), number});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Whether the line goes on with the item or paragraph above it.
bool continues(std::string_view line, bool paragraphs) {
    return paragraphs || line.front() == ' ' || line.front() == '\t';
}

Json record_of(const std::string& name,
               const DocumentGroup& group,
               const DocumentGroup::File& file,
               std::size_t line,
               const std::string& text) {
    bool cut = false;
    Json record = Json::object();
    record.set("kind", group.kind)
        .set("id", file.path + ":" + std::to_string(line))
        .set("group", name)
        .set("day", file.day)
        .set("at", file.at)
        .set("source", "desk")
        .set("part", file.path)
        .set("text", record_text(text, cut));
    return cut ? record.set("cut", true) : record;
}

}  // namespace

std::string record_text(std::string_view text, bool& cut) {
    const std::string_view shown = cut_text(text, kMaxRecordText);
    cut = shown.size() < text.size();
    return std::string(shown);
}

void HistoryDocuments::add_file(Groups& groups,
                                const std::string& name,
                                const std::string& kind,
                                DocumentGroup::File file) const {
    const auto status = os_.stat_beneath(file.folder, file.place);
    if (!status || !S_ISREG(status->st_mode)) {
        return;
    }
    const auto nanoseconds = [](const struct timespec& time) {
        return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
    };
    file.at = to_rfc3339(Timestamp(std::chrono::seconds(status->st_mtim.tv_sec) +
                                   std::chrono::nanoseconds(status->st_mtim.tv_nsec)));
    DocumentGroup& group = groups[name];
    group.kind = kind;
    group.fingerprint =
        sha256_hex(group.fingerprint + file.path + '\n' + std::to_string(status->st_size) + ' ' +
                   std::to_string(status->st_ino) + ' ' + nanoseconds(status->st_mtim) + ' ' +
                   nanoseconds(status->st_ctim))
            .substr(0, kPrint);
    group.files.push_back(std::move(file));
}

/// Files named after a day, a group a month.
Result<> HistoryDocuments::add_days(Groups& groups,
                                    int folder,
                                    const std::string& path,
                                    bool summaries) const {
    constexpr std::string_view kEnding = ".md";
    constexpr std::size_t kMonth = 7;  // "2026-10"
    auto entries = os_.list(folder, summaries ? "." : path);
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<>() : entries.error();
    }
    for (const DirectoryEntry& entry : *entries) {
        if (!entry.is_regular || !entry.name.ends_with(kEnding)) {
            continue;
        }
        const std::string day = entry.name.substr(0, entry.name.size() - kEnding.size());
        if (!DeskDate::parse(day)) {
            continue;
        }
        const std::string full = path + "/" + entry.name;
        add_file(groups,
                 path + "/" + day.substr(0, kMonth),
                 summaries ? "summary" : "note",
                 {full, summaries ? entry.name : full, folder, day, ""});
    }
    return {};
}

Result<> HistoryDocuments::add_memory(Groups& groups, const std::string& folder, int depth) const {
    auto entries = os_.list(desk_dir_, folder);
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<>() : entries.error();
    }
    for (const DirectoryEntry& entry : *entries) {
        const std::string path = folder + "/" + entry.name;
        if (entry.is_directory && depth < kMaxDepth) {
            if (auto added = add_memory(groups, path, depth + 1); !added) {
                return added;
            }
        } else if (entry.is_regular && groups.size() < kMaxFiles) {
            add_file(groups,
                     "memory/" + sha256_hex(path).substr(0, kBucketDigits),
                     "memory",
                     {path, path, desk_dir_, "", ""});
        }
    }
    return {};
}

Result<std::map<std::string, DocumentGroup>> HistoryDocuments::groups() const {
    Groups groups;
    add_file(groups, "memory/Memory.md", "memory", {"Memory.md", "Memory.md", desk_dir_, "", ""});
    if (auto added = add_memory(groups, "memory", 1); !added) {
        return added.error();
    }
    if (auto added = add_days(groups, desk_dir_, "notes", false); !added) {
        return added.error();
    }
    if (summaries_ >= 0) {
        if (auto added = add_days(groups, summaries_, "summaries", true); !added) {
            return added.error();
        }
    }
    return groups;
}

std::vector<Json> HistoryDocuments::records(const std::string& name,
                                            const DocumentGroup& group) const {
    std::vector<Json> records;
    const bool paragraphs = group.kind == "summary";
    for (const DocumentGroup::File& file : group.files) {
        const auto content = read_file(os_, file.folder, file.place, kMaxFile);
        if (!content || !is_utf8(*content)) {
            continue;
        }
        std::string text;
        std::size_t first = 0;
        const auto give = [&] {
            if (!text.empty()) {
                records.push_back(record_of(name, group, file, first, text));
            }
            text.clear();
        };
        for (const Line& line : lines_of(*content)) {
            if (is_blank(line.text)) {
                give();
            } else if (!text.empty() && continues(line.text, paragraphs)) {
                text.append("\n").append(line.text);
            } else {
                give();
                first = line.number;
                text = line.text;
            }
        }
        give();
    }
    return records;
}

}  // namespace daybook
