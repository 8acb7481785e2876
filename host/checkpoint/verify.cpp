#include "host/checkpoint/verify.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/file_scan.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/listing_index.hpp"
#include "host/checkpoint/log_overlay.hpp"
#include "host/checkpoint/pack_file.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxSmall = 256UL * 1024 * 1024;
constexpr std::size_t kMostFindings = 200;
constexpr std::size_t kMostNotes = 200;
constexpr std::size_t kIdDigits = 40;
constexpr unsigned kSubmodule = 0160000;

constexpr const char* kFromBackup =
    "start the host: it writes anew what the files on disk still give; what stays wrong must come "
    "from a backup (daybook restore-home)";

std::optional<GitId> last_line_id(std::string_view lines) {
    while (lines.ends_with('\n')) {
        lines.remove_suffix(1);
        const std::size_t before = lines.rfind('\n');
        const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
        if (auto id = GitId::from_hex(lines.substr(start))) {
            return id;
        }
        lines = lines.substr(0, start);
    }
    return std::nullopt;
}

class Verifier {
  public:
    Verifier(Os& os, const VerifyPlaces& places) : os_(os), places_(places) {}

    Result<VerifyReport> run() {
        auto desk = os_.open_root(places_.desk_folder);
        if (!desk) {
            return desk.error();
        }
        auto folder = os_.open_root(places_.repository);
        if (!folder && folder.error().code() == Errc::not_found) {
            report_.notes.emplace_back("there is no repository yet");
            return std::move(report_);
        }
        if (!folder) {
            return folder.error();
        }
        folder_ = std::move(*folder);
        // The tip first: all that it reaches is there before it, so a host that goes on writing
        // does not look damaged.
        read_log();
        const auto tip = find_tip();
        for (const auto step :
             {&Verifier::open_objects, &Verifier::read_loose, &Verifier::read_packs}) {
            if (auto done = (this->*step)(); !done) {
                return done.error();
            }
        }
        if (tip) {
            follow(*tip);
            compare_index(*tip);
            if (auto compared = compare_files(desk->get()); !compared) {
                return compared.error();
            }
        }
        count_unreachable();
        return std::move(report_);
    }

  private:
    void find(std::string what, std::string todo) {
        if (report_.findings.size() < kMostFindings) {
            report_.findings.push_back({std::move(what), std::move(todo)});
        } else if (report_.findings.size() == kMostFindings) {
            report_.findings.push_back(
                {"more is wrong than is listed here", "put the first right"});
        }
    }
    void note(std::string text) {
        if (report_.notes.size() < kMostNotes) {
            report_.notes.push_back(std::move(text));
        }
    }

    /// What the next start will bring into git.
    void read_log() {
        auto overlay = read_log_overlay(os_, places_.repository, folder_.get());
        if (!overlay) {
            find("daybook.records: " + overlay.error().message(),
                 "start the host: it says whether it can go on from there");
            return;
        }
        overlay_ = std::move(*overlay);
        if (overlay_.records != 0) {
            note(std::to_string(overlay_.records) +
                 " records of the log are not in git yet; the host brings them in");
        }
    }

    Result<std::string> read(std::string_view name) {
        return read_file(os_, folder_.get(), name, kMaxSmall);
    }

    std::optional<GitId> find_tip() {
        const auto tip_text = read("daybook.tip");
        const auto ref_text = read("refs/heads/checkpoints");
        const auto packed = read("packed-refs");
        if (const auto head = read("HEAD"); !head || !head->starts_with("ref: refs/heads/")) {
            find("HEAD is missing or is not git's", "start the host: it writes it anew");
        }
        const auto tip = tip_text ? last_line_id(*tip_text) : std::nullopt;
        auto ref = ref_text ? last_line_id(*ref_text) : std::nullopt;
        if (!ref && packed) {
            const std::size_t at = packed->find(" refs/heads/checkpoints\n");
            if (at != std::string::npos && at >= kIdDigits) {
                ref = GitId::from_hex(packed->substr(at - kIdDigits, kIdDigits));
            }
        }
        if (!tip && !ref && !overlay_.tip) {
            note("there is no checkpoint yet");
            return std::nullopt;
        }
        if (!tip) {
            find("daybook.tip names no commit", "start the host: it takes the ref's");
        }
        if (!ref && overlay_.is_unclean) {
            note("refs/heads/checkpoints names no commit; the next start writes it anew");
        } else if (!ref) {
            find("refs/heads/checkpoints names no commit", "start the host: it writes it anew");
        }
        ref_ = ref;
        return overlay_.tip ? overlay_.tip : tip ? tip : ref;
    }

    Result<> open_objects() {
        auto fd = os_.open_beneath(folder_.get(), "objects", OpenMode::directory);
        if (!fd) {
            return fd.error().during("verify checkpoints");
        }
        objects_fd_ = std::move(*fd);
        return reopen();
    }
    Result<> reopen() {
        auto opened = GitObjects::open(
            os_, places_.repository / "objects", objects_fd_.get(), overlay_.staged);
        if (!opened) {
            return opened.error();
        }
        objects_ = std::move(*opened);
        return {};
    }

    /// Reads with its hash compared. What a host packs meanwhile moves: looked for once more.
    Result<GitObject> read_object(const GitId& id) {
        auto object = objects_->read(id);
        if (!object && object.error().code() == Errc::not_found) {
            if (auto again = reopen(); !again) {
                return again.error();
            }
            object = objects_->read(id);
        }
        return object;
    }

    void check_object(const GitId& id, const std::string& where) {
        auto object = read_object(id);
        if (object && GitObjects::id_of(object->type, object->bytes) == id) {
            whole_.insert(id);
            return;
        }
        if (!object && object.error().code() == Errc::not_found) {
            return;  // removed since it was listed; if it is needed, the walk will say so
        }
        if (overlay_.is_unclean && where.starts_with("objects/")) {
            ++emptied_;  // unsynced when the host ended; if it is needed, the walk will say so
            return;
        }
        find(where + " is damaged: " +
                 (object ? "its content has another hash" : object.error().message()),
             kFromBackup);
    }

    Result<> read_loose() {
        auto folders = os_.list(objects_fd_.get(), "");
        if (!folders) {
            return folders.error();
        }
        for (const DirectoryEntry& folder : *folders) {
            if (!folder.is_directory || folder.name.size() != 2) {
                continue;
            }
            auto files = os_.list(objects_fd_.get(), folder.name);
            if (!files) {
                continue;  // an owner's git may remove it
            }
            for (const DirectoryEntry& file : *files) {
                if (const auto id = GitId::from_hex(folder.name + file.name)) {
                    ++report_.loose;
                    check_object(*id, "objects/" + folder.name + "/" + file.name);
                }
            }
        }
        return {};
    }

    Result<> read_packs() {
        auto files = os_.list(objects_fd_.get(), "pack");
        if (!files) {
            return files.error().code() == Errc::not_found ? Result<>() : Result<>(files.error());
        }
        for (const DirectoryEntry& file : *files) {
            if (file.name.ends_with(".pack")) {
                ++report_.packs;
                read_pack(file.name.substr(0, file.name.size() - 5));
            }
        }
        return {};
    }

    void read_pack(const std::string& stem) {
        const std::string place = "pack/" + stem;
        for (const char* ending : {".pack", ".idx"}) {
            const auto sound = check_pack_hash(os_, objects_fd_.get(), place + ending);
            if (sound) {
                continue;
            }
            if (sound.error().code() == Errc::not_found && ending == std::string_view(".pack")) {
                return;  // merged into another since it was listed
            }
            find("objects/" + place + ending + ": " + sound.error().message(), kFromBackup);
        }
        auto index = read_file(os_, objects_fd_.get(), place + ".idx", kMaxSmall);
        auto ids = index ? ids_of_pack_index(*index) : Result<std::vector<GitId>>(index.error());
        if (!ids) {
            find("objects/" + place + ".idx: " + ids.error().message(),
                 "git index-pack on the .pack writes it anew");
            return;
        }
        for (const GitId& id : *ids) {
            ++report_.packed;
            if (!whole_.contains(id)) {
                check_object(id, "object " + id.hex() + " in objects/" + place + ".pack");
            }
        }
    }

    /// From the newest commit to the first, with all that each holds.
    void follow(const GitId& tip) {
        std::optional<GitId> at = tip;
        std::uint64_t last_number = 0;
        bool saw_ref = !ref_;
        while (at) {
            saw_ref = saw_ref || *at == *ref_;
            auto object = read_object(*at);
            auto record =
                object ? CommitRecord::parse(object->bytes) : Result<CommitRecord>(object.error());
            if (!record) {
                find("commit " + at->hex() + " cannot be read, and what is before it neither: " +
                         record.error().message(),
                     kFromBackup);
                return;
            }
            ++report_.commits;
            reached_.insert(*at);
            if (at == tip) {
                tree_ = record->tree;
            }
            if (record->number != 0) {
                ++report_.checkpoints;
                const std::string id = "c-" + std::to_string(record->number);
                report_.newest = report_.newest.empty() ? id : report_.newest;
                if (last_number != 0 && record->number >= last_number) {
                    find("checkpoint " + id + " stands before c-" + std::to_string(last_number),
                         "the history was put together by hand; look at it with git log");
                }
                last_number = record->number;
                follow_tree(record->tree, id, "");
            } else {
                follow_tree(record->tree, "commit " + at->hex().substr(0, 12), "");
            }
            at = record->parent;
        }
        if (!saw_ref) {
            find("refs/heads/checkpoints names a commit that is not in the chain of daybook.tip",
                 "start the host: it makes the newest one the ref's");
        }
    }

    void follow_tree(const GitId& id, const std::string& in, const std::string& path) {
        if (!reached_.insert(id).second) {
            return;
        }
        auto object = read_object(id);
        auto entries =
            object ? decode_tree(object->bytes) : Result<std::vector<TreeEntry>>(object.error());
        if (!entries) {
            find(in + ": the tree of \"" + quote_path(path) + "\", " + id.hex() + ": " +
                     entries.error().message(),
                 kFromBackup);
            return;
        }
        for (const TreeEntry& entry : *entries) {
            const std::string name = path.empty() ? entry.name : path + "/" + entry.name;
            if (entry.mode == kModeFolder) {
                follow_tree(entry.id, in, name);
            } else if (entry.mode != kSubmodule && reached_.insert(entry.id).second &&
                       !whole_.contains(entry.id) && !read_object(entry.id)) {
                find(in + ": the content of " + quote_path(name) + ", " + entry.id.hex() +
                         ", is missing or damaged",
                     kFromBackup);
            }
        }
    }

    Result<> compare_files(int desk_dir) {
        auto tree = tree_ ? FolderTree::load(*objects_, *tree_) : Result<FolderTree>(FolderTree());
        if (!tree) {
            return {};  // said already
        }
        FileScan scan(os_, desk_dir);
        auto found = scan.run([](const std::string&, const std::string&) { return Result<>(); });
        if (!found) {
            return found.error().code() == Errc::busy ? Result<>() : Result<>(found.error());
        }
        const auto known = tree->files();
        for (const auto& [path, file] : known) {
            if (path.starts_with(".daybook/") || found->unreadable.contains(path)) {
                continue;
            }
            const auto now = found->files.find(path);
            if (now == found->files.end()) {
                note(quote_path(path) + " is gone since the newest commit");
            } else if (now->second != file) {
                note(quote_path(path) +
                     " differs from the newest commit; the next checkpoint holds it");
            }
        }
        for (const auto& [path, file] : found->files) {
            if (!known.contains(path)) {
                note(quote_path(path) +
                     " is new since the newest commit; the next checkpoint holds it");
            }
        }
        for (const std::string& skipped : found->skipped) {
            note("not stored: " + skipped);
        }
        return {};
    }

    /// It is disposable: what is wrong with it is worth knowing, and no damage.
    void compare_index(const GitId& tip) {
        ListingIndex index(os_, places_.repository, folder_.get());
        const auto fault = index.compare(*objects_, tip);
        if (fault && !fault->empty()) {
            note("daybook.index, the listing index, is not to be used (" + *fault +
                 "); remove it, it is made anew");
        }
    }

    void count_unreachable() {
        if (emptied_ > 0) {
            note(std::to_string(emptied_) +
                 " loose objects were not on the disk when the host ended; the next start removes "
                 "or writes them anew");
        }
        const auto count = std::count_if(whole_.begin(), whole_.end(), [this](const GitId& id) {
            return !reached_.contains(id);
        });
        if (count > 0) {
            note(std::to_string(count) +
                 " objects belong to no checkpoint (left by work that was interrupted)");
        }
    }

    Os& os_;
    const VerifyPlaces& places_;
    UniqueFd folder_, objects_fd_;
    std::unique_ptr<GitObjects> objects_;
    std::optional<GitId> ref_, tree_;
    std::set<GitId> whole_, reached_;
    LogOverlay overlay_;
    std::size_t emptied_ = 0;  ///< loose objects
    VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify_checkpoints(Os& os, const VerifyPlaces& places) {
    auto report = Verifier(os, places).run();
    return report ? std::move(report) : report.error().during("verify checkpoints");
}

}  // namespace daybook
