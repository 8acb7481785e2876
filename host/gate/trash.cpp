#include "host/gate/trash.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "host/checkpoint/commit_record.hpp"
#include "host/format/sha256.hpp"
#include "host/os/desk_path.hpp"
#include "host/os/file_lease.hpp"

namespace daybook {
namespace {

constexpr std::string_view kFolder = "trash";
constexpr std::string_view kIndex = "index.jsonl";
constexpr std::size_t kMaxIndex = 16UL * 1024 * 1024;
constexpr std::size_t kMaxRead = 8UL * 1024 * 1024;
constexpr std::size_t kLookedAtEachTime = 8;
constexpr std::size_t kSpareLines = 4096;  // of the index, before it is written anew
constexpr std::size_t kHexOfHash = 64;

std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// "r12-<sha256>" or "x12-<sha256>"; a link has no hash.
std::string name_of(const TrashEntry& entry) {
    return (entry.kind == TrashEntry::Kind::replaced ? "r" : "x") + std::to_string(entry.number) +
           "-" + entry.sha256;
}

std::optional<TrashEntry> entry_of_name(std::string_view name) {
    if (name.size() < 3 || (name.front() != 'r' && name.front() != 'x')) {
        return std::nullopt;
    }
    TrashEntry entry;
    entry.kind = name.front() == 'r' ? TrashEntry::Kind::replaced : TrashEntry::Kind::removed;
    const char* const end = name.data() + name.size();
    const auto [after, error] = std::from_chars(name.data() + 1, end, entry.number);
    if (error != std::errc{} || after == end || *after != '-') {
        return std::nullopt;
    }
    entry.sha256 = std::string(after + 1, end);
    const bool is_hash = entry.sha256.size() == kHexOfHash || entry.sha256.empty();
    return is_hash ? std::optional<TrashEntry>(std::move(entry)) : std::nullopt;
}

/// Raw names may be no UTF-8, which JSON cannot hold.
std::string hex_of(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

std::string from_hex(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        unsigned value = 0;
        const char* const end = text.data() + i + 2;
        if (std::from_chars(text.data() + i, end, value, 16).ptr != end) {
            return "";
        }
        bytes += static_cast<char>(value);
    }
    return bytes;
}

std::string line_of(const TrashEntry& entry) {
    Json json = Json::object()
                    .set("n", static_cast<std::int64_t>(entry.number))
                    .set("checkpoint", entry.checkpoint)
                    .set("at", to_rfc3339(entry.at))
                    .set("bytes", static_cast<std::int64_t>(entry.bytes));
    json.set(is_utf8(entry.path) ? "path" : "path_hex",
             is_utf8(entry.path) ? entry.path : hex_of(entry.path));
    return json.dump() + "\n";
}

void read_line(const Json& line, TrashEntry& entry) {
    entry.path =
        line.has("path_hex") ? from_hex(line["path_hex"].as_string()) : line["path"].as_string();
    entry.checkpoint = line["checkpoint"].as_string();
    if (const auto at = parse_rfc3339(line["at"].as_string())) {
        entry.at = *at;
    }
    entry.bytes = static_cast<std::uint64_t>(line["bytes"].as_integer());
}

}  // namespace

Trash::Trash(Os& os, const Clock& clock, const DeskPlaces& places)
    : os_(os), clock_(clock), places_(places) {}

std::string Trash::place_of(std::string_view name) const {
    return places_.repository + "/" + std::string(kFolder) +
           (name.empty() ? "" : "/" + std::string(name));
}

Result<std::vector<Trash::Kept>> Trash::read_folder() {
    std::vector<Kept> found;
    auto entries = os_.list(places_.root, place_of(""));
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<std::vector<Kept>>(found)
                                                         : entries.error();
    }
    std::map<std::uint64_t, Json> lines;
    index_lines_ = 0;
    if (auto text = read_file(os_, places_.root, place_of(kIndex), kMaxIndex)) {
        for (std::string_view rest = *text; !rest.empty(); ++index_lines_) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            if (auto line = Json::parse(rest.substr(0, end))) {
                lines[static_cast<std::uint64_t>((*line)["n"].as_integer())] = std::move(*line);
            }
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    for (const DirectoryEntry& each : *entries) {
        auto entry = entry_of_name(each.name);
        if (!entry) {
            continue;
        }
        if (const auto line = lines.find(entry->number); line != lines.end()) {
            read_line(line->second, *entry);
        }
        found.push_back(Kept{std::move(*entry), each.name});
    }
    std::sort(found.begin(), found.end(), [](const Kept& a, const Kept& b) {
        return a.entry.number < b.entry.number;
    });
    return found;
}

Result<> Trash::open() {
    auto found = read_folder();
    if (!found) {
        return found.error().during("open the trash");
    }
    replaced_.clear();
    for (Kept& kept : *found) {
        next_ = std::max(next_, kept.entry.number + 1);
        if (kept.entry.kind == TrashEntry::Kind::replaced) {
            replaced_.push_back(std::move(kept));
        }
    }
    return {};
}

Result<> Trash::append_index(const TrashEntry& entry) {
    auto index = os_.open_beneath(places_.root, place_of(kIndex), OpenMode::append);
    if (!index) {
        return index.error();
    }
    ++index_lines_;
    return os_.write_all(index->get(), line_of(entry));
}

Result<TrashEntry> Trash::take_in(std::string_view from, TrashEntry what) {
    what.number = next_;
    what.at = clock_.now();
    const std::string name = name_of(what);
    auto moved = os_.rename_new(places_.root, from, place_of(name));
    if (!moved && moved.error().code() == Errc::not_found) {
        if (auto made = os_.make_directory(places_.root, place_of("")); !made) {
            return made.error();
        }
        moved = os_.rename_new(places_.root, from, place_of(name));
    }
    if (!moved) {
        return moved.error();
    }
    ++next_;
    // Without its line the file is known by its hash alone: that is no reason to fail.
    const Result<> ignored = append_index(what);
    if (what.kind == TrashEntry::Kind::replaced) {
        replaced_.push_back(Kept{what, name});
    }
    return what;
}

Result<std::optional<Trash::Late>> Trash::look(Kept& kept, bool surely) {
    auto status = os_.stat_beneath(places_.root, place_of(kept.name));
    if (!status) {
        return status.error().code() == Errc::not_found ? Result<std::optional<Late>>(std::nullopt)
                                                        : status.error();
    }
    const std::int64_t changed = nanoseconds(status->st_ctim);
    const std::int64_t size = status->st_size;
    const bool is_as_before = kept.changed == changed && kept.size == size;
    if (!S_ISREG(status->st_mode) || (is_as_before && !surely)) {
        return std::optional<Late>();
    }
    auto fd = os_.open_beneath(places_.root, place_of(kept.name), OpenMode::read);
    auto content = fd ? os_.read_all(fd->get(), kMaxRead) : Result<std::string>(fd.error());
    if (!content) {
        return content.error();
    }
    kept.changed = changed;
    kept.size = size;
    const std::string hash = sha256_hex(*content);
    if (hash == kept.entry.sha256) {
        return std::optional<Late>();
    }
    Late late{kept.entry, std::move(*content)};
    TrashEntry renamed = kept.entry;
    renamed.sha256 = hash;
    const std::string name = name_of(renamed);
    // So that the next start does not tell it again.
    if (auto moved = os_.rename_new(places_.root, place_of(kept.name), place_of(name)); !moved) {
        return moved.error();
    }
    kept.entry = std::move(renamed);
    kept.name = name;
    return std::optional<Late>(std::move(late));
}

Result<std::vector<Trash::Late>> Trash::find_late(bool all) {
    std::vector<Late> found;
    const std::size_t count =
        all ? replaced_.size() : std::min(replaced_.size(), kLookedAtEachTime);
    for (std::size_t i = replaced_.size() - count; i < replaced_.size(); ++i) {
        auto late = look(replaced_[i], false);
        if (!late) {
            return late.error().during("look at the trash");
        }
        if (*late) {
            found.push_back(std::move(**late));
        }
    }
    return found;
}

/// Where leases are not offered, nobody is seen: the age alone decides.
Result<bool> Trash::is_written_to(const Kept& kept) {
    auto fd = os_.open_beneath(places_.root, place_of(kept.name), OpenMode::read);
    if (!fd) {
        return fd.error();
    }
    return FileLease::take(fd->get()).state() == FileLease::State::open_for_writing;
}

Result<std::vector<Trash::Late>> Trash::settle(std::chrono::seconds age) {
    auto found = find_late(true);
    if (!found) {
        return found;
    }
    const std::int64_t now = SystemClock().now().time_since_epoch().count();
    const std::int64_t oldest = now - std::chrono::nanoseconds(age).count();
    std::deque<Kept> left;
    std::size_t over = replaced_.size() > kMostReplaced ? replaced_.size() - kMostReplaced : 0;
    for (Kept& kept : replaced_) {
        const bool is_due = kept.changed <= oldest || over > 0;
        over -= over > 0 ? 1 : 0;
        const auto written_to = is_due ? is_written_to(kept) : Result<bool>(true);
        if (!written_to && written_to.error().code() == Errc::not_found) {
            continue;  // the owner has removed it
        }
        if (!written_to || *written_to) {
            left.push_back(std::move(kept));
            continue;
        }
        auto late = look(kept, true);  // nobody can write to it any more
        if (!late) {
            return late.error().during("look at the trash");
        }
        if (*late) {
            found->push_back(std::move(**late));
        }
        if (auto gone = os_.remove(places_.root, place_of(kept.name));
            !gone && gone.error().code() != Errc::not_found) {
            left.push_back(std::move(kept));
        }
    }
    replaced_ = std::move(left);
    if (index_lines_ > replaced_.size() + kSpareLines) {
        const Result<> ignored = rewrite_index();  // only a convenience
    }
    return found;
}

Result<> Trash::rewrite_index() {
    auto entries = read_folder();
    if (!entries) {
        return entries.error();
    }
    std::string text;
    for (const Kept& kept : *entries) {
        text += line_of(kept.entry);
    }
    index_lines_ = entries->size();
    return write_file_durably(os_, places_.root, place_of(kIndex), text);
}

Result<std::vector<TrashEntry>> Trash::list() {
    auto found = read_folder();
    if (!found) {
        return found.error().during("list the trash");
    }
    std::vector<TrashEntry> entries;
    for (auto kept = found->rbegin(); kept != found->rend(); ++kept) {
        entries.push_back(std::move(kept->entry));
    }
    return entries;
}

Result<Trash::Emptied> Trash::empty() {
    auto found = read_folder();
    if (!found) {
        return found.error().during("empty the trash");
    }
    Emptied emptied;
    for (const Kept& kept : *found) {
        if (kept.entry.kind != TrashEntry::Kind::removed) {
            continue;
        }
        if (auto gone = os_.remove(places_.root, place_of(kept.name)); !gone) {
            return gone.error().during("empty the trash");
        }
        ++emptied.files;
        emptied.bytes += kept.entry.bytes;
    }
    if (emptied.files > 0) {
        if (auto written = rewrite_index(); !written) {
            return written.error().during("empty the trash");
        }
    }
    return emptied;
}

Json trash_json(const std::vector<TrashEntry>& entries) {
    Json files = Json::array();
    std::uint64_t bytes = 0;
    for (const TrashEntry& entry : entries) {
        bytes += entry.bytes;
        files.push(
            Json::object()
                .set("path", entry.path.empty() ? "" : quote_path(entry.path))
                .set("kind", entry.kind == TrashEntry::Kind::replaced ? "replaced" : "removed")
                .set("checkpoint", entry.checkpoint)
                .set("at", to_rfc3339(entry.at))
                .set("bytes", static_cast<std::int64_t>(entry.bytes))
                .set("sha256", entry.sha256));
    }
    return Json::object()
        .set("files", std::move(files))
        .set("bytes", static_cast<std::int64_t>(bytes));
}

}  // namespace daybook
