// A home from its backup.
#include <map>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "host/checkpoint/commit_record.hpp"
#include "host/format/sha256_stream.hpp"
#include "host/os/desk_path.hpp"
#include "host/surface/archive.hpp"
#include "host/surface/backup.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxManifest = 512UL * 1024 * 1024;
constexpr std::string_view kState = "state/";
constexpr std::string_view kConfig = "daybook.toml";
constexpr unsigned kFolderMode = 0700;

/// As the archive has it, and as the manifest says.
struct Seen {
    std::uint64_t bytes = 0;
    std::string sha256;
    friend bool operator==(const Seen&, const Seen&) = default;
};

class Restorer {
  public:
    Restorer(const VaultPlace& place, ArchiveReader& reader, int state)
        : os_(place.os), place_(place), reader_(reader), state_(state) {}

    Result<Json> run() {
        TarEntry entry;
        for (;;) {
            auto more = reader_.next(entry);
            if (!more) {
                return more.error();
            }
            if (!*more) {
                break;
            }
            if (auto done = take(entry); !done) {
                return done.error();
            }
        }
        if (auto done = compare(); !done) {
            return done.error();
        }
        for (const auto step :
             {&Restorer::make_links, &Restorer::set_folder_modes, &Restorer::finish}) {
            if (auto done = (this->*step)(); !done) {
                return done.error();
            }
        }
        return Json::object()
            .set("files", static_cast<std::int64_t>(seen_.size()))
            .set("bytes", static_cast<std::int64_t>(bytes_))
            .set("at", manifest_["at"])
            .set("left_out", manifest_["left_out"]);
    }

  private:
    static Error strange(const TarEntry& entry) {
        return Error(Errc::corrupt, quote_path(entry.path) + " is nothing that a backup holds");
    }

    Result<> take(const TarEntry& entry) {
        const bool is_state = entry.path.starts_with(kState) && entry.path.size() > kState.size();
        if (entry.kind == 'f' && (entry.path == kManifestName || entry.path == kConfig ||
                                  entry.path == "state/format")) {
            return take_text(entry);
        }
        if (entry.kind == 'd' && entry.path == "state") {
            return {};
        }
        if (!is_state) {
            return strange(entry);
        }
        const std::string path = entry.path.substr(kState.size());
        if (entry.kind == 'd') {
            return make_directories(os_, state_, path, kFolderMode);
        }
        if (entry.kind == 'l') {
            links_[path] = entry.link;
            return {};
        }
        return take_file(entry, path);
    }

    /// Small files that are needed or written at the end.
    Result<> take_text(const TarEntry& entry) {
        std::string text;
        for (;;) {
            auto piece = reader_.read();
            if (!piece) {
                return piece.error();
            }
            if (piece->empty()) {
                break;
            }
            text += *piece;
            if (text.size() > kMaxManifest) {
                return strange(entry);
            }
        }
        if (entry.path == kManifestName) {
            JsonLimits limits;
            limits.max_bytes = kMaxManifest;
            auto manifest = Json::parse(text, limits);
            if (!manifest || (*manifest)["backup"].as_integer() != 1) {
                return Error(Errc::corrupt, "the manifest cannot be read");
            }
            manifest_ = std::move(*manifest);
            return {};
        }
        Sha256Stream hash;
        hash.add(text);
        seen_[quote_path(entry.path)] = {text.size(), hash.finish()};
        bytes_ += text.size();
        texts_[entry.path] = std::move(text);
        return {};
    }

    Result<> take_file(const TarEntry& entry, const std::string& path) {
        const std::size_t slash = path.rfind('/');
        if (slash != std::string::npos) {
            if (auto made = make_directories(os_, state_, path.substr(0, slash), kFolderMode);
                !made) {
                return made;
            }
        }
        auto file = os_.open_beneath(state_, path, OpenMode::create_new, 0600);
        if (!file) {
            return file.error();
        }
        Sha256Stream hash;
        std::uint64_t bytes = 0;
        for (;;) {
            auto piece = reader_.read();
            if (!piece) {
                return piece.error();
            }
            if (piece->empty()) {
                break;
            }
            hash.add(*piece);
            bytes += piece->size();
            if (auto written = os_.write_all(file->get(), *piece); !written) {
                return written;
            }
        }
        if (auto set = os_.set_mode(file->get(), entry.mode & 07777U); !set) {
            return set;
        }
        bytes_ += bytes;
        seen_[quote_path(entry.path)] = {bytes, hash.finish()};
        return {};
    }

    [[nodiscard]] Result<> compare() const {
        if (manifest_.is_null()) {
            return Error(Errc::corrupt, "it ends before its manifest, so it is no whole backup");
        }
        if (manifest_["state_format"].as_integer() > kStateFormat) {
            return Error(Errc::unsupported, "it is of a newer daybook; use that one");
        }
        std::size_t listed = 0;
        for (const Json& file : manifest_["files"].items()) {
            if (file.items().size() < 3) {
                return Error(Errc::corrupt, "the manifest cannot be read");
            }
            const std::string& name = file.items()[0].as_string();
            const Seen wanted{static_cast<std::uint64_t>(file.items()[1].as_integer()),
                              file.items()[2].as_string()};
            const auto found = seen_.find(name);
            if (found == seen_.end()) {
                return Error(Errc::corrupt, name + " is missing in it");
            }
            if (found->second != wanted) {
                return Error(Errc::corrupt, name + " is damaged in it: the hash is another");
            }
            ++listed;
        }
        return listed == seen_.size()
                   ? Result<>()
                   : Result<>(
                         Error(Errc::corrupt, "it holds files that its manifest does not name"));
    }

    /// After every file: nothing can be put through one.
    Result<> make_links() {
        for (const auto& [path, link] : links_) {
            const std::size_t slash = path.rfind('/');
            const std::string above = slash == std::string::npos ? "." : path.substr(0, slash);
            if (auto made = make_directories(os_, state_, above, kFolderMode); !made) {
                return made;
            }
            auto dir = os_.open_beneath(state_, above, OpenMode::directory);
            if (!dir) {
                return dir.error();
            }
            const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
            if (::symlinkat(link.c_str(), dir->get(), name.c_str()) != 0) {
                const int reason = errno;
                return Error(Errc::io,
                             "link " + path + ": " + std::generic_category().message(reason));
            }
        }
        return {};
    }

    Result<> set_folder_modes() {
        const auto& folders = manifest_["folders"].items();
        for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
            if (folder->items().size() < 2) {
                continue;
            }
            const auto path = unquote_path(folder->items()[0].as_string());
            if (!path || !path->starts_with(kState)) {
                continue;
            }
            auto dir = os_.open_beneath(state_, path->substr(kState.size()), OpenMode::directory);
            const auto mode = static_cast<unsigned>(folder->items()[1].as_integer()) & 07777U;
            if (auto set = dir ? os_.set_mode(dir->get(), mode) : Result<>(dir.error()); !set) {
                return set;
            }
        }
        return {};
    }

    Result<> finish() {
        if (const auto config = texts_.find(std::string(kConfig)); config != texts_.end()) {
            if (auto made = make_private_folders(place_.config.parent_path()); !made) {
                return made;
            }
            auto folder = os_.open_root(place_.config.parent_path());
            auto written = folder ? write_file_durably(os_,
                                                       folder->get(),
                                                       place_.config.filename().string(),
                                                       config->second,
                                                       0600)
                                  : Result<>(folder.error());
            if (!written) {
                return written;
            }
        }
        if (::syncfs(state_) != 0) {
            const int reason = errno;
            return Error(Errc::io, "sync the home: " + std::generic_category().message(reason));
        }
        const auto format = texts_.find("state/format");
        return format == texts_.end()
                   ? Result<>(Error(Errc::corrupt, "it has no number of a format"))
                   : write_file_durably(os_, state_, "format", format->second, 0600);
    }

    Os& os_;
    const VaultPlace& place_;
    ArchiveReader& reader_;
    int state_;
    Json manifest_;
    std::map<std::string, Seen> seen_;
    std::map<std::string, std::string> links_, texts_;
    std::uint64_t bytes_ = 0;
};

Result<> check_target(const VaultPlace& place) {
    std::error_code error;
    if (fs::exists(place.state, error) && !fs::is_empty(place.state, error)) {
        return Error(Errc::conflict,
                     place.state.string() +
                         " is not empty: a home is restored beside what is there, never over it");
    }
    if (fs::exists(place.config, error)) {
        return Error(Errc::conflict, place.config.string() + " is there already");
    }
    return make_private_folders(place.state);
}

}  // namespace

Result<Json> restore_home(const VaultPlace& place, const fs::path& from) {
    const std::string doing = "restore a home from " + from.string();
    if (auto fine = check_target(place); !fine) {
        return fine.error().during(doing);
    }
    auto reader = ArchiveReader::open(place.os, from);
    if (!reader) {
        return reader.error();
    }
    auto state = place.os.open_root(place.state);
    if (!state) {
        return state.error().during(doing);
    }
    auto done = Restorer(place, **reader, state->get()).run();
    if (!done) {
        return Error(done.error().code(),
                     doing + ": " + done.error().message() +
                         "; what was restored so far is no home: remove " + place.state.string());
    }
    auto verified = verify_desks(place, "");
    if (!verified) {
        return verified.error().during(doing);
    }
    return done->set("from", from.string())
        .set("ok", (*verified)["ok"])
        .set("desks", (*verified)["desks"]);
}

}  // namespace daybook
