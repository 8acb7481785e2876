// WriteGate: reading, listing, and the owner's edits.
#include <algorithm>

#include "host/checkpoint/file_scan.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/content_rules.hpp"
#include "host/gate/write_gate.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxListed = 2000;
constexpr int kMaxDepth = 16;

}  // namespace

Result<std::string> WriteGate::read(ShownFiles& shown, const DeskPath& path) {
    auto content = read_any(shown, path);
    if (content && path.is_own()) {
        shown.remember(path, sha256_hex(*content));
    }
    return content;
}

Result<FileLines> WriteGate::read_lines(ShownFiles& shown,
                                        const DeskPath& path,
                                        const LineRange& range,
                                        std::string& content) {
    auto whole = read_any(shown, path);
    if (!whole) {
        return whole.error();
    }
    content = std::move(*whole);
    const FileLines lines = slice_lines(content, range);
    if (path.is_own()) {
        shown.remember_part(path,
                            sha256_hex(content),
                            lines.begin,
                            lines.begin + lines.text.size(),
                            content.size());
    }
    return lines;
}

/// Remembers only that there is no such file.
Result<std::string> WriteGate::read_any(ShownFiles& shown, const DeskPath& path) {
    // An own file is replaced by renaming: read through what copes with that. The owner's other
    // files are only read.
    auto content =
        path.is_own() ? read_own(path) : read_file(os_, desk_dir_, path.str(), kMaxOtherFile);
    if (!content && content.error().code() == Errc::not_found && path.is_own()) {
        shown.remember(path, "");
    }
    return content;
}

Result<std::string> WriteGate::read_own(const DeskPath& path) {
    auto content = read_current(path, "read");
    if (!content) {
        return content.error();
    }
    if (!*content) {
        return Error(Errc::not_found, "read " + path.str() + ": there is no such file");
    }
    return std::move(**content);
}

Result<std::vector<WriteGate::Listed>> WriteGate::list(std::string_view folder) {
    std::vector<Listed> listed;
    std::string start(folder);
    while (start.ends_with('/')) {
        start.pop_back();
    }
    if (!start.empty()) {
        if (auto path = DeskPath::parse(start); !path) {
            return path.error().during("list");
        }
    }
    if (auto done = list_below(start, 0, listed); !done) {
        return done.error();
    }
    std::sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
        return a.path < b.path;
    });
    return listed;
}

/// Names that are no DeskPath are left out: nothing could be done with them.
Result<> WriteGate::list_below(const std::string& folder, int depth, std::vector<Listed>& into) {
    auto entries = os_.list(desk_dir_, folder);
    if (!entries) {
        return depth > 0 && entries.error().code() == Errc::not_found ? Result<>()
                                                                      : Result<>(entries.error());
    }
    for (const DirectoryEntry& entry : *entries) {
        if (into.size() >= kMaxListed) {
            return {};
        }
        auto path = DeskPath::parse(folder.empty() ? entry.name : folder + "/" + entry.name);
        if (!path) {
            continue;
        }
        if (entry.is_directory && depth < kMaxDepth) {
            if (auto done = list_below(path->str(), depth + 1, into); !done) {
                return done;
            }
        } else if (entry.is_regular) {
            auto status = os_.stat_beneath(desk_dir_, path->str());
            if (status && S_ISREG(status->st_mode)) {
                into.push_back(
                    {path->str(), static_cast<std::uint64_t>(status->st_size), path->is_own()});
            }
        }
    }
    return {};
}

Result<std::string> WriteGate::note_owner_edits(const WriteContext& context) {
    last_restore_.clear();
    if (auto looked = look_at_trash(true); !looked) {
        return looked.error();
    }
    auto edits = checkpoints_.record_owner_edits();
    if (!edits) {
        return edits.error();
    }
    if (!*edits) {
        return std::string();
    }
    JournalEntry entry;
    entry.type = "checkpoint";
    entry.session = context.session;
    entry.turn = context.turn;
    entry.data.set("checkpoint", (*edits)->id).set("reason", (*edits)->why.reason);
    auto written = journal_.append(std::move(entry));
    return written ? Result<std::string>((*edits)->id) : Result<std::string>(written.error());
}

Result<std::optional<std::string>> WriteGate::read_current(const DeskPath& path,
                                                           std::string_view verb) {
    auto file = read_target(os_, desk_dir_, path.str(), verb);
    if (!file) {
        return file.error();
    }
    if (!*file) {
        return std::optional<std::string>();
    }
    if ((*file)->content.size() > kMaxOtherFile) {
        return Error(Errc::refused,
                     std::string(verb) + " " + path.str() + ": the file has more than " +
                         std::to_string(kMaxOtherFile) + " bytes");
    }
    return std::optional<std::string>(std::move((*file)->content));
}

}  // namespace daybook
