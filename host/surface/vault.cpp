#include "host/surface/vault.hpp"

#include <algorithm>
#include <set>
#include <sys/stat.h>

#include "host/checkpoint/verify.hpp"
#include "host/os/desk_path.hpp"
#include "host/surface/ledger_verify.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kBlockBytes = 512;

struct Usage {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;    ///< as read
    std::uint64_t on_disk = 0;  ///< as the file system counts

    void add(const struct stat& status) {
        ++files;
        bytes += static_cast<std::uint64_t>(status.st_size);
        on_disk += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
    }
    Usage& operator+=(const Usage& other) {
        files += other.files;
        bytes += other.bytes;
        on_disk += other.on_disk;
        return *this;
    }
};

/// Everything below a folder or a file itself; nothing is followed. What vanishes meanwhile is
/// passed over, and what is listed in `without` is left out.
Usage usage_of(const fs::path& place, const std::set<fs::path>& without = {}) {
    Usage usage;
    struct stat status {};
    if (::lstat(place.c_str(), &status) != 0 || without.contains(place)) {
        return usage;
    }
    if (!S_ISDIR(status.st_mode)) {
        usage.add(status);
        return usage;
    }
    usage.on_disk += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
    std::error_code error;
    for (fs::directory_iterator entry(place, error), end; !error && entry != end;
         entry.increment(error)) {
        usage += usage_of(entry->path(), without);
    }
    return usage;
}

/// A list of parts with its sum.
class Parts {
  public:
    void add(std::string_view name, const Usage& usage) {
        sum_ += usage;
        if (usage.files != 0) {
            parts_.push(Json::object()
                            .set("name", name)
                            .set("files", usage.files)
                            .set("bytes", usage.bytes)
                            .set("on_disk", usage.on_disk));
        }
    }
    [[nodiscard]] Json write(Json into) const {
        return into.set("parts", parts_).set("bytes", sum_.bytes).set("on_disk", sum_.on_disk);
    }
    [[nodiscard]] const Usage& sum() const { return sum_; }

  private:
    Json parts_ = Json::array();
    Usage sum_;
};

Usage scratch_of(const fs::path& scratch, const std::string& desk) {
    Usage usage;
    std::error_code error;
    for (fs::directory_iterator entry(scratch, error), end; !error && entry != end;
         entry.increment(error)) {
        usage += usage_of(entry->path() / desk);
    }
    return usage;
}

Json usage_of_desk(const VaultPlace& place, const std::string& desk, Usage& sum) {
    const fs::path folder = place.state / "workspace" / desk;
    const fs::path repository = place.state / "workspace/.checkpoints" / (desk + ".git");
    const std::set<fs::path> own = {
        folder / "Memory.md", folder / "memory", folder / "notes", folder / "skills"};
    Usage files;
    for (const fs::path& each : own) {
        files += usage_of(each);
    }
    const fs::path packs = repository / "objects/pack";
    Parts parts;
    parts.add("own files", files);
    parts.add("owner's other files", usage_of(folder, own));
    parts.add("checkpoints: packs", usage_of(packs));
    parts.add("checkpoints: loose objects", usage_of(repository / "objects", {packs}));
    parts.add("checkpoints: other", usage_of(repository, {repository / "objects"}));
    parts.add("sessions", usage_of(place.state / "sessions" / desk));
    parts.add("journal", usage_of(place.state / "journal" / desk));
    parts.add("ledger", usage_of(place.state / "ledger" / desk));
    parts.add("scratch", scratch_of(place.state / "scratch", desk));
    sum += parts.sum();
    return parts.write(Json::object().set("desk", desk));
}

Json to_json(const std::string& desk, const VerifyReport& report) {
    Json findings = Json::array();
    for (const VerifyFinding& finding : report.findings) {
        findings.push(Json::object().set("what", finding.what).set("todo", finding.todo));
    }
    Json notes = Json::array();
    for (const std::string& note : report.notes) {
        notes.push(note);
    }
    return Json::object()
        .set("desk", desk)
        .set("ok", report.findings.empty())
        .set("newest", report.newest)
        .set("checkpoints", report.checkpoints)
        .set("commits", report.commits)
        .set("loose", report.loose)
        .set("packs", report.packs)
        .set("packed", report.packed)
        .set("findings", std::move(findings))
        .set("notes", std::move(notes));
}

}  // namespace

Result<std::vector<std::string>> desk_names(const VaultPlace& place) {
    auto state = place.os.open_root(place.state);
    if (!state) {
        return state.error();
    }
    auto entries = place.os.list(state->get(), "workspace");
    if (!entries) {
        return entries.error();
    }
    std::vector<std::string> names;
    for (const DirectoryEntry& entry : *entries) {
        if (entry.is_directory && is_plain_name(entry.name)) {
            names.push_back(entry.name);
        }
    }
    return names;
}

Result<std::vector<std::string>> chosen_desks(const VaultPlace& place, const std::string& desk) {
    auto names = desk_names(place);
    if (!names || desk.empty()) {
        return names;
    }
    if (std::find(names->begin(), names->end(), desk) != names->end()) {
        return std::vector<std::string>{desk};
    }
    std::string known;
    for (const std::string& name : *names) {
        known += (known.empty() ? "" : ", ") + name;
    }
    return Error(Errc::not_found,
                 "no desk " + printable(desk, 64) + " in " + place.state.string() +
                     "; there is: " + (known.empty() ? "none" : known));
}

Result<Json> verify_desks(const VaultPlace& place, const std::string& desk) {
    auto names = chosen_desks(place, desk);
    if (!names) {
        return names.error().during("verify");
    }
    Json desks = Json::array();
    bool is_ok = true;
    for (const std::string& name : *names) {
        const fs::path workspace = place.state / "workspace";
        auto report = verify_checkpoints(
            place.os, {workspace / name, workspace / ".checkpoints" / (name + ".git")});
        if (!report) {
            return report.error().during("verify desk " + name);
        }
        if (report->findings.empty()) {
            if (auto looked = verify_ledger(place.os, place.state, name, *report); !looked) {
                return looked.error().during("verify the ledger of desk " + name);
            }
        }
        std::error_code error;
        if (fs::exists(place.state / "forget" / name, error)) {
            report->findings.push_back(
                {"a forget was cut short: the text may still be in some places",
                 "run daybook forget " + name + " again with the same text"});
        }
        is_ok = is_ok && report->findings.empty();
        desks.push(to_json(name, *report));
    }
    return Json::object().set("ok", is_ok).set("desks", std::move(desks));
}

Result<Json> usage_of_home(const VaultPlace& place, const std::string& desk) {
    auto names = chosen_desks(place, desk);
    if (!names) {
        return names.error().during("du");
    }
    Json desks = Json::array();
    Usage sum;
    for (const std::string& name : *names) {
        desks.push(usage_of_desk(place, name, sum));
    }
    Json result = Json::object().set("state", place.state.string()).set("desks", std::move(desks));
    if (!desk.empty()) {
        return result.set("bytes", sum.bytes).set("on_disk", sum.on_disk);
    }
    Parts parts;
    parts.add("desks", sum);
    parts.add("journal of the host", usage_of(place.state / "journal/_host"));
    parts.add("modules", usage_of(place.state / "modules"));
    parts.add("log", usage_of(place.state / "log"));
    std::set<fs::path> counted = {place.state / "workspace",
                                  place.state / "sessions",
                                  place.state / "journal",
                                  place.state / "ledger",
                                  place.state / "scratch",
                                  place.state / "modules",
                                  place.state / "log"};
    parts.add("other", usage_of(place.state, counted));
    return parts.write(std::move(result));
}

}  // namespace daybook
