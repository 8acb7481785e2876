#include "host/surface/forget_desk.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/forget.hpp"
#include "host/format/text_mask.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxFile = 1024UL * 1024 * 1024;
constexpr std::size_t kMostUnreached = 200;
constexpr std::string_view kMarks = "forget";

class Forgetter {
  public:
    Forgetter(const VaultPlace& place, const Clock& clock, const ForgetWish& wish, TextMask mask)
        : os_(place.os), place_(place), clock_(clock), wish_(wish), mask_(std::move(mask)) {}

    Result<Json> run() {
        auto state = os_.open_root(place_.state);
        if (!state) {
            return state.error();
        }
        state_ = std::move(*state);
        for (const auto step : {&Forgetter::begin,
                                &Forgetter::settle,
                                &Forgetter::mask_own_files,
                                &Forgetter::rewrite_history,
                                &Forgetter::mask_records,
                                &Forgetter::remove_indexes,
                                &Forgetter::find_unreached,
                                &Forgetter::end}) {
            if (auto done = (this->*step)(); !done) {
                return done.error();
            }
        }
        return report();
    }

  private:
    [[nodiscard]] std::string mark() const { return std::string(kMarks) + "/" + wish_.desk; }
    [[nodiscard]] fs::path repository() const {
        return place_.state / "workspace/.checkpoints" / (wish_.desk + ".git");
    }

    Result<> begin() {
        if (wish_.dry_run) {
            return {};
        }
        if (auto made = os_.make_directory(state_.get(), kMarks, 0700); !made) {
            return made;
        }
        return write_file_durably(
            os_,
            state_.get(),
            mark(),
            Json::object().set("begun", to_rfc3339(clock_.now())).dump() + "\n");
    }

    /// As a start does: what a crash left is completed, so that nothing comes back afterwards.
    Result<> settle() {
        auto desk_dir =
            os_.open_beneath(state_.get(), "workspace/" + wish_.desk, OpenMode::directory);
        if (!desk_dir) {
            return desk_dir.error();
        }
        desk_dir_ = std::move(*desk_dir);
        if (wish_.dry_run) {
            return {};
        }
        auto journal = Journal::open(
            os_, clock_, state_.get(), "journal/" + wish_.desk, wish_.desk, std::nullopt);
        if (!journal) {
            return journal.error();
        }
        auto store = CheckpointStore::open(
            os_, clock_, desk_dir_.get(), repository(), wish_.desk, CheckpointForm::plain);
        if (!store) {
            return store.error();
        }
        WriteGate gate(os_, clock_, desk_dir_.get(), wish_.desk, **store, **journal);
        return gate.recover();
    }

    Result<> mask_own_files() {
        for (const std::string name : {"Memory.md", "memory", "notes", "skills"}) {
            if (auto done = mask_own(name); !done) {
                return done;
            }
        }
        return {};
    }

    Result<> mask_own(const std::string& path) {
        auto status = os_.stat_beneath(desk_dir_.get(), path);
        if (!status) {
            return status.error().code() == Errc::not_found ? Result<>() : Result<>(status.error());
        }
        if (S_ISDIR(status->st_mode)) {
            auto entries = os_.list(desk_dir_.get(), path);
            if (!entries) {
                return entries.error();
            }
            for (const DirectoryEntry& entry : *entries) {
                if (auto done = mask_own(path + "/" + entry.name); !done) {
                    return done;
                }
            }
        }
        if (S_ISREG(status->st_mode)) {
            if (auto done = mask_content(path, *status); !done) {
                return done;
            }
        }
        return mask_name(path);
    }

    Result<> mask_content(const std::string& path, const struct stat& status) {
        auto text = read_file(os_, desk_dir_.get(), path, kMaxFile);
        if (!text) {
            unreached("workspace/" + wish_.desk + "/" + path, text.error().message());
            return {};
        }
        const std::uint64_t count = mask_.mask(*text);
        if (count == 0) {
            return {};
        }
        places_ += count;
        files_.push(quote_path(path));
        if (wish_.dry_run) {
            return {};
        }
        auto written =
            write_file_durably(os_, desk_dir_.get(), path, *text, status.st_mode & 07777U);
        if (written) {
            // Only root may give files away; for others it is theirs already.
            [[maybe_unused]] const int ignored = ::fchownat(
                desk_dir_.get(), path.c_str(), status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW);
        }
        return written;
    }

    /// The name by itself; what is above was masked before or is masked after.
    Result<> mask_name(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
        if (slash == std::string::npos || mask_.mask(name) == 0) {
            return {};
        }
        ++places_;
        files_.push("a name in " + path.substr(0, slash));
        return wish_.dry_run
                   ? Result<>()
                   : os_.rename_new(desk_dir_.get(), path, path.substr(0, slash + 1) + name);
    }

    Result<> rewrite_history() {
        auto done = forget_in_history(os_, repository(), mask_, wish_.dry_run);
        if (!done && done.error().code() == Errc::not_found) {
            return {};
        }
        if (!done) {
            return done.error();
        }
        history_ = std::move(*done);
        for (const auto& [from, to] : history_.hashes) {
            mask_.add_hash(from, to);
        }
        return {};
    }

    Result<> mask_records() {
        for (const std::string& folder : {"sessions/" + wish_.desk,
                                          "journal/" + wish_.desk,
                                          std::string("journal/_host"),
                                          "ledger/" + wish_.desk}) {
            if (wish_.is_live && folder == "journal/_host") {
                continue;
            }
            if (auto done = mask_below(folder); !done) {
                return done;
            }
        }
        return {};
    }

    Result<> mask_below(const std::string& folder) {
        auto entries = os_.list(state_.get(), folder);
        if (!entries) {
            return entries.error().code() == Errc::not_found ? Result<>()
                                                             : Result<>(entries.error());
        }
        for (const DirectoryEntry& entry : *entries) {
            const std::string path = folder + "/" + entry.name;
            auto done = entry.is_directory ? mask_below(path)
                        : entry.is_regular ? mask_record(path)
                                           : Result<>();
            if (!done) {
                return done;
            }
        }
        return {};
    }

    /// Line by line; the lines stay where they are, each with its number and id.
    Result<> mask_record(const std::string& path) {
        auto status = os_.stat_beneath(state_.get(), path);
        auto text = read_file(os_, state_.get(), path, kMaxFile);
        if (!text || !status) {
            return text ? status.error() : text.error();
        }
        std::string masked;
        std::uint64_t changed = 0;
        for (std::size_t at = 0; at < text->size();) {
            const std::size_t end = std::min(text->find('\n', at), text->size());
            std::string line = text->substr(at, end - at);
            changed += mask_.mask_line(line) != 0 ? 1U : 0U;
            masked += line;
            masked += end < text->size() ? "\n" : "";
            at = end + 1;
        }
        // A text of several lines, in a summary.
        const std::uint64_t across = mask_.mask(masked);
        if (changed + across == 0) {
            return {};
        }
        lines_ += changed + across;
        return wish_.dry_run
                   ? Result<>()
                   : write_file_durably(os_, state_.get(), path, masked, status->st_mode & 07777U);
    }

    /// They are made again from what is left.
    Result<> remove_indexes() {
        auto plugins = os_.list(state_.get(), "scratch");
        for (const DirectoryEntry& plugin : plugins ? *plugins : std::vector<DirectoryEntry>()) {
            const fs::path index = place_.state / "scratch" / plugin.name / wish_.desk;
            std::error_code error;
            if (!wish_.dry_run && plugin.is_directory && fs::exists(index, error)) {
                fs::remove_all(index, error);
                if (error) {
                    return Error(Errc::io, "remove " + index.string() + ": " + error.message());
                }
            }
        }
        return {};
    }

    void unreached(const std::string& path, std::string_view why) {
        if (unreached_.items().size() < kMostUnreached) {
            unreached_.push(quote_path(path) + ": " + std::string(why));
        }
    }

    /// Files that are not the desk's and hold the text: named, never changed.
    Result<> find_unreached() {
        std::error_code error;
        const fs::path own = place_.state / "workspace" / wish_.desk;
        for (fs::recursive_directory_iterator
                 at(place_.state, fs::directory_options::skip_permission_denied, error),
             end;
             !error && at != end;
             at.increment(error)) {
            const std::string path = at->path().lexically_relative(place_.state).string();
            if (path.starts_with("workspace/.checkpoints/") || path == "modules" ||
                path == "scratch") {
                at.disable_recursion_pending();
                continue;
            }
            const bool is_desks = path.starts_with("sessions/" + wish_.desk + "/") ||
                                  path.starts_with("journal/" + wish_.desk + "/");
            struct stat status {};
            if (::lstat(at->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
                (wish_.dry_run && is_desks)) {
                continue;
            }
            const auto rest = at->path().lexically_relative(own).string();
            const bool is_own = rest == "Memory.md" || rest.starts_with("memory/") ||
                                rest.starts_with("notes/") || rest.starts_with("skills/");
            if (wish_.dry_run && is_own) {
                continue;
            }
            auto text = read_file(os_, state_.get(), path, kMaxFile);
            if (text && mask_.is_in(*text)) {
                unreached(path,
                          is_own ? "still there; run it again"
                          : path.starts_with("journal/_host/")
                              ? "the running host writes it; stop the host and run it again"
                              : "not the desk's own");
            }
        }
        auto folder = os_.open_root(place_.config.parent_path());
        auto config =
            folder ? read_file(os_, folder->get(), place_.config.filename().string(), kMaxFile)
                   : Result<std::string>(folder.error());
        if (config && mask_.is_in(*config)) {
            unreached_.push(place_.config.string() + ": the configuration holds it");
        }
        for (const char* each :
             {"backups that were taken before, and copies of the repository",
              "what a model's maker or a model server has kept of former conversations",
              "other desks, each by its own forget; parts of the text, and the text in other "
              "forms"}) {
            unreached_.push(each);
        }
        return {};
    }

    Result<> end() {
        if (wish_.dry_run) {
            return {};
        }
        auto journal = Journal::open(
            os_, clock_, state_.get(), "journal/" + wish_.desk, wish_.desk, std::nullopt);
        if (!journal) {
            return journal.error();
        }
        JournalEntry entry;
        entry.type = "forget";
        entry.data.set("texts", wish_.texts.size())
            .set("files", files_.items().size())
            .set("lines", lines_)
            .set("contents", history_.contents)
            .set("commits", history_.commits);
        if (auto written = (*journal)->append(std::move(entry)); !written) {
            return written.error();
        }
        auto gone = os_.remove(state_.get(), mark());
        return gone;
    }

    Result<Json> report() {
        Json refs = Json::array();
        for (const std::string& ref : history_.refs) {
            refs.push(ref);
        }
        Json result = Json::object()
                          .set("desk", wish_.desk)
                          .set("dry_run", wish_.dry_run)
                          .set("files", files_)
                          .set("places", places_)
                          .set("lines", lines_)
                          .set("contents", history_.contents)
                          .set("commits", history_.commits)
                          .set("removed", history_.removed)
                          .set("removed_refs", std::move(refs))
                          .set("unreached", unreached_);
        auto verified = verify_desks(place_, wish_.desk);
        if (!verified) {
            return verified.error();
        }
        return result.set("verified", (*verified)["ok"]);
    }

    Os& os_;
    const VaultPlace& place_;
    const Clock& clock_;
    const ForgetWish& wish_;
    TextMask mask_;
    UniqueFd state_, desk_dir_;
    ForgottenHistory history_;
    Json files_ = Json::array();
    Json unreached_ = Json::array();
    std::uint64_t places_ = 0;
    std::uint64_t lines_ = 0;
};

}  // namespace

Result<Json> forget_in_desk(const VaultPlace& place, const Clock& clock, const ForgetWish& wish) {
    auto mask = TextMask::of(wish.texts);
    if (!mask) {
        return mask.error().during("forget");
    }
    if (auto known = chosen_desks(place, wish.desk); !known) {
        return known.error().during("forget");
    }
    auto done = Forgetter(place, clock, wish, std::move(*mask)).run();
    return done ? std::move(done) : done.error().during("forget in desk " + wish.desk);
}

}  // namespace daybook
