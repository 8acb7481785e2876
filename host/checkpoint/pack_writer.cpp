#include "host/checkpoint/pack_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <git2.h>
#include <git2/sys/repository.h>

#include "host/checkpoint/pack_file.hpp"
#include "host/checkpoint/pack_order.hpp"

namespace daybook {
namespace {

constexpr unsigned kFolderMode = 0770;
constexpr unsigned kPackMode = 0444;  // as git's

struct FreeOdb {
    void operator()(git_odb* odb) const noexcept { git_odb_free(odb); }
};
struct FreeRepository {
    void operator()(git_repository* repository) const noexcept { git_repository_free(repository); }
};
struct FreeConfig {
    void operator()(git_config* config) const noexcept { git_config_free(config); }
};
struct FreeIndexer {
    void operator()(git_indexer* indexer) const noexcept { git_indexer_free(indexer); }
};
struct FreeBuilder {
    void operator()(git_packbuilder* builder) const noexcept { git_packbuilder_free(builder); }
};

Error git_failure(Errc code) {
    const int reason = errno;
    const git_error* error = git_error_last();
    const std::string text = error != nullptr && error->message != nullptr ? error->message : "";
    const bool is_full = reason == ENOSPC || reason == EDQUOT;
    return Error(is_full ? Errc::full : code,
                 "pack checkpoints: " + (text.empty() ? "libgit2 gives no reason" : text));
}

/// The objects folder as a repository without a folder of its own and with an empty configuration:
/// what libgit2 asks for to make a pack. Nothing else is read.
struct BareObjects {
    std::unique_ptr<git_odb, FreeOdb> odb;
    std::unique_ptr<git_config, FreeConfig> config;
    std::unique_ptr<git_repository, FreeRepository> repository;

    static Result<BareObjects> open(const std::filesystem::path& objects) {
        BareObjects opened;
        git_odb* odb = nullptr;
        if (git_odb_new(&odb) < 0) {
            return git_failure(Errc::io);
        }
        opened.odb.reset(odb);
        git_odb_backend* loose = nullptr;
        git_odb_backend* packs = nullptr;
        if (git_odb_backend_loose(&loose, objects.c_str(), 1, 0, 0, 0) < 0 ||
            git_odb_add_backend(odb, loose, 2) < 0 ||
            git_odb_backend_pack(&packs, objects.c_str()) < 0 ||
            git_odb_add_backend(odb, packs, 1) < 0) {
            return git_failure(Errc::io);
        }
        git_config* config = nullptr;
        if (git_config_new(&config) < 0) {
            return git_failure(Errc::io);
        }
        opened.config.reset(config);
        git_repository* repository = nullptr;
        if (git_repository_wrap_odb(&repository, odb) < 0) {
            return git_failure(Errc::io);
        }
        opened.repository.reset(repository);
        if (git_repository_set_config(repository, config) < 0) {
            return git_failure(Errc::io);
        }
        return opened;
    }
};

git_oid to_oid(const GitId& id) {
    git_oid oid = {};
    std::memcpy(oid.id, id.bytes.data(), id.bytes.size());
    return oid;
}

PackSource source_of(git_odb* odb) {
    PackSource source;
    source.type_of = [odb](const GitId& id) -> std::optional<GitType> {
        const git_oid oid = to_oid(id);
        std::size_t size = 0;
        git_object_t type = GIT_OBJECT_INVALID;
        if (git_odb_read_header(&size, &type, odb, &oid) < 0) {
            return std::nullopt;
        }
        return static_cast<GitType>(type);
    };
    source.read = [odb](const GitId& id) -> std::optional<std::string> {
        const git_oid oid = to_oid(id);
        git_odb_object* raw = nullptr;
        if (git_odb_read(&raw, odb, &oid) < 0) {
            return std::nullopt;
        }
        std::string bytes(static_cast<const char*>(git_odb_object_data(raw)),
                          git_odb_object_size(raw));
        git_odb_object_free(raw);
        return bytes;
    };
    return source;
}

/// With our encoder. Errors: as build_with_library(), and corrupt when its bytes are not a pack.
Result<std::string> build_with_encoder(const PackPlace& place,
                                       git_odb* odb,
                                       const std::vector<PackEntry>& entries) {
    const std::string folder = (place.repository / kNewPackFolder).string();
    git_indexer* raw = nullptr;
    errno = 0;
    if (git_indexer_new(&raw, folder.c_str(), kPackMode, nullptr, nullptr) < 0) {
        return git_failure(Errc::io);
    }
    const std::unique_ptr<git_indexer, FreeIndexer> indexer(raw);
    git_indexer_progress progress = {};
    const PackSource source = source_of(odb);
    const auto append = [&](std::string_view bytes) -> Result<> {
        const int outcome = git_indexer_append(raw, bytes.data(), bytes.size(), &progress);
        return outcome < 0 ? Result<>(git_failure(Errc::corrupt)) : Result<>();
    };
    if (auto done = PackEncoder(source, append, place.delta).encode(entries); !done) {
        return done.error();
    }
    errno = 0;
    if (git_indexer_commit(raw, &progress) < 0) {
        return git_failure(Errc::corrupt);
    }
    return "pack-" + std::string(git_indexer_name(raw));
}

Result<std::string> build_with_library(const PackPlace& place,
                                       git_repository* repository,
                                       const std::vector<PackEntry>& entries) {
    git_packbuilder* raw = nullptr;
    if (git_packbuilder_new(&raw, repository) < 0) {
        return git_failure(Errc::io);
    }
    const std::unique_ptr<git_packbuilder, FreeBuilder> builder(raw);
    git_packbuilder_set_threads(raw, 1);
    for (const PackEntry& entry : entries) {
        const git_oid oid = to_oid(entry.id);
        if (git_packbuilder_insert(raw, &oid, entry.name.c_str()) < 0) {
            return git_failure(Errc::corrupt);
        }
    }
    errno = 0;
    const std::string folder = (place.repository / kNewPackFolder).string();
    if (git_packbuilder_write(raw, folder.c_str(), kPackMode, nullptr, nullptr) < 0) {
        return git_failure(Errc::corrupt);
    }
    return "pack-" + std::string(git_packbuilder_name(raw));
}

/// Whether the index names exactly these. Errors: corrupt (it does not), io.
Result<> check_index(Os& os,
                     const PackPlace& place,
                     const std::string& name,
                     const std::vector<PackEntry>& entries) {
    constexpr std::size_t kMaxIndex = 256UL * 1024 * 1024;
    const std::string file = std::string(kNewPackFolder) + "/" + name + ".idx";
    auto index = read_file(os, place.repository_fd, file, kMaxIndex);
    auto ids = index ? ids_of_pack_index(*index) : Result<std::vector<GitId>>(index.error());
    if (!ids) {
        return ids.error();
    }
    std::vector<GitId> wanted;
    for (const PackEntry& entry : entries) {
        wanted.push_back(entry.id);
    }
    std::sort(wanted.begin(), wanted.end());
    return *ids == wanted ? Result<>()
                          : Result<>(Error(Errc::corrupt, name + " has other objects in it"));
}

/// What is wrong with our own pack never goes live: it is made anew by the library.
Result<std::string> build(Os& os, const PackPlace& place, const std::vector<GitId>& ids) {
    auto objects = BareObjects::open(place.repository / "objects");
    if (!objects) {
        return objects.error();
    }
    git_odb* odb = objects->odb.get();
    const std::vector<PackEntry> entries = order_for_pack(source_of(odb), ids);
    auto name = build_with_encoder(place, odb, entries);
    if (name) {
        if (auto same = check_index(os, place, *name, entries); !same) {
            name = same.error();
        }
    }
    if (name || name.error().code() != Errc::corrupt) {
        return name;
    }
    if (auto cleared = clear_new_packs(os, place); !cleared) {
        return cleared.error();
    }
    return build_with_library(place, objects->repository.get(), entries);
}

}  // namespace

Result<> clear_new_packs(Os& os, const PackPlace& place) {
    if (auto made = os.make_directory(place.repository_fd, kNewPackFolder, kFolderMode); !made) {
        return made;
    }
    auto entries = os.list(place.repository_fd, kNewPackFolder);
    if (!entries) {
        return entries.error();
    }
    for (const DirectoryEntry& entry : *entries) {
        const std::string name = std::string(kNewPackFolder) + "/" + entry.name;
        if (auto gone = os.remove(place.repository_fd, name); !gone) {
            return gone;
        }
    }
    return {};
}

Result<> place_pack(Os& os, const PackPlace& place, const std::string& name, bool* sync_failed) {
    const std::string from = std::string(kNewPackFolder) + "/" + name;
    const std::string to = "objects/pack/" + name;
    const auto sync = [&](const std::string& file, OpenMode mode) -> Result<> {
        auto fd = os.open_beneath(place.repository_fd, file, mode);
        if (!fd) {
            return fd.error();
        }
        auto synced = os.full_sync(fd->get());
        *sync_failed = *sync_failed || !synced;
        return synced;
    };
    for (const std::string ending : {".pack", ".idx"}) {
        if (auto synced = sync(from + ending, OpenMode::read); !synced) {
            return synced;
        }
    }
    for (const std::string ending : {".pack", ".idx"}) {
        if (auto moved = os.rename_over(place.repository_fd, from + ending, to + ending); !moved) {
            return moved;
        }
    }
    return sync("objects/pack", OpenMode::directory);
}

Result<std::string> write_pack(Os& os,
                               const PackPlace& place,
                               const std::vector<GitId>& ids,
                               bool* sync_failed) {
    if (auto cleared = clear_new_packs(os, place); !cleared) {
        return cleared.error().during("pack checkpoints");
    }
    auto name = build(os, place, ids);
    if (!name) {
        return name;
    }
    if (auto placed = place_pack(os, place, *name, sync_failed); !placed) {
        return placed.error().during("pack checkpoints");
    }
    return name;
}

}  // namespace daybook
