#include "host/checkpoint/git_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <git2.h>

#include "host/checkpoint/git_library.hpp"
#include "host/checkpoint/loose_object.hpp"
#include "host/checkpoint/staged_objects.hpp"

namespace daybook {

/// libgit2 is started once for the process and never stopped: other stores may be in use on other
/// threads. Its options are global too. We never open a repository, which is what reads
/// configuration; the empty search paths are a second lock on that door. Its cache would hide a
/// broken file behind what was read earlier.
void start_git_library() {
    static std::once_flag started;
    std::call_once(started, [] {
        git_libgit2_init();
        for (const int level : {GIT_CONFIG_LEVEL_PROGRAMDATA,
                                GIT_CONFIG_LEVEL_SYSTEM,
                                GIT_CONFIG_LEVEL_XDG,
                                GIT_CONFIG_LEVEL_GLOBAL}) {
            git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
        }
        git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
        git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
    });
}

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

/// Reads libgit2's thread-local message: call it first thing after the failure.
Error last_git_error(Errc code, std::string_view operation) {
    const git_error* error = git_error_last();
    const std::string text = error != nullptr && error->message != nullptr ? error->message : "";
    std::string message(operation);
    message += ": ";
    message += text.empty() ? "libgit2 gives no reason" : text;
    return Error(code, message);
}

git_oid to_oid(const GitId& id) {
    git_oid oid = {};
    std::memcpy(oid.id, id.bytes.data(), id.bytes.size());
    return oid;
}

GitId from_oid(const git_oid& oid) {
    GitId id;
    std::memcpy(id.bytes.data(), oid.id, id.bytes.size());
    return id;
}

git_object_t to_git(GitType type) {
    switch (type) {
        case GitType::commit:
            return GIT_OBJECT_COMMIT;
        case GitType::tree:
            return GIT_OBJECT_TREE;
        case GitType::blob:
            break;
    }
    return GIT_OBJECT_BLOB;
}

std::string_view name_of(GitType type) {
    switch (type) {
        case GitType::commit:
            return "commit";
        case GitType::tree:
            return "tree";
        case GitType::blob:
            break;
    }
    return "blob";
}

/// "ab/cdef..." below `objects`.
std::string loose_name(const GitId& id) {
    const std::string hex = id.hex();
    return hex.substr(0, 2) + "/" + hex.substr(2);
}

struct FreeOdb {
    void operator()(git_odb* odb) const noexcept { git_odb_free(odb); }
};
struct FreeObject {
    void operator()(git_odb_object* object) const noexcept { git_odb_object_free(object); }
};
using Odb = std::unique_ptr<git_odb, FreeOdb>;
using OdbObject = std::unique_ptr<git_odb_object, FreeObject>;

/// Adds a backend; the odb owns it from then on.
Result<> add_loose(git_odb* odb, const std::string& folder) {
    constexpr int kFastCompression = 1;
    constexpr int kSync = 1;
    git_odb_backend* backend = nullptr;
    if (git_odb_backend_loose(&backend, folder.c_str(), kFastCompression, kSync, 0, 0) < 0 ||
        git_odb_add_backend(odb, backend, 2) < 0) {
        return last_git_error(Errc::io, "open checkpoint objects");
    }
    return {};
}

Result<> add_packs(git_odb* odb, const std::string& folder) {
    git_odb_backend* backend = nullptr;
    if (git_odb_backend_pack(&backend, folder.c_str()) < 0 ||
        git_odb_add_backend(odb, backend, 1) < 0) {
        return last_git_error(Errc::io, "open checkpoint packs");
    }
    return {};
}

}  // namespace

std::string GitId::hex() const {
    std::string text;
    text.reserve(40);
    for (const unsigned char byte : bytes) {
        text += kHexDigits[byte >> 4U];
        text += kHexDigits[byte & 0x0FU];
    }
    return text;
}

std::optional<GitId> GitId::from_hex(std::string_view text) noexcept {
    GitId id;
    if (text.size() != id.bytes.size() * 2) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t digit = kHexDigits.find(text[i]);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        unsigned char& byte = id.bytes[i / 2];
        byte = static_cast<unsigned char>(static_cast<unsigned>(byte) * 16U +
                                          static_cast<unsigned>(digit));
    }
    return id;
}

std::string encode_tree(std::vector<TreeEntry> entries) {
    const auto sort_key = [](const TreeEntry& entry) {
        return entry.mode == kModeFolder ? entry.name + "/" : entry.name;
    };
    std::sort(entries.begin(), entries.end(), [&](const TreeEntry& a, const TreeEntry& b) {
        return sort_key(a) < sort_key(b);
    });
    std::string bytes;
    for (const TreeEntry& entry : entries) {
        constexpr std::size_t kOctalDigits = 8;
        std::array<char, kOctalDigits> mode{};
        std::size_t used = 0;
        for (unsigned left = entry.mode; left != 0; left >>= 3U) {
            mode[kOctalDigits - ++used] = static_cast<char>('0' + (left & 7U));
        }
        bytes.append(mode.data() + (kOctalDigits - used), used);
        bytes += ' ';
        bytes += entry.name;
        bytes += '\0';
        bytes.append(reinterpret_cast<const char*>(entry.id.bytes.data()), entry.id.bytes.size());
    }
    return bytes;
}

Result<std::vector<TreeEntry>> decode_tree(std::string_view bytes) {
    std::vector<TreeEntry> entries;
    while (!bytes.empty()) {
        const std::size_t space = bytes.find(' ');
        const std::size_t nul = bytes.find('\0');
        TreeEntry entry;
        if (space == std::string_view::npos || nul == std::string_view::npos || space >= nul ||
            space > 6 || bytes.size() - nul - 1 < entry.id.bytes.size()) {
            return Error(Errc::corrupt, "read tree: malformed entry");
        }
        entry.mode = 0;
        for (const char digit : bytes.substr(0, space)) {
            if (digit < '0' || digit > '7') {
                return Error(Errc::corrupt, "read tree: malformed mode");
            }
            entry.mode = (entry.mode << 3U) | static_cast<unsigned>(digit - '0');
        }
        entry.name = std::string(bytes.substr(space + 1, nul - space - 1));
        std::memcpy(entry.id.bytes.data(), bytes.data() + nul + 1, entry.id.bytes.size());
        bytes.remove_prefix(nul + 1 + entry.id.bytes.size());
        entries.push_back(std::move(entry));
    }
    return entries;
}

/// Two views of the same folder. Writing goes through loose files only: with packs in it, each new
/// object would make libgit2 look through objects/pack again.
struct GitObjects::Handles {
    Odb reading;
    Odb writing;
    Odb packs;  ///< nothing else: says what need not be packed again
};

GitObjects::GitObjects(Os& os,
                       int folder_fd,
                       std::unique_ptr<Handles> handles,
                       std::shared_ptr<StagedObjects> staged)
    : os_(os), folder_fd_(folder_fd), handles_(std::move(handles)), staged_(std::move(staged)) {}

GitObjects::~GitObjects() = default;

Result<std::unique_ptr<GitObjects>> GitObjects::open(Os& os,
                                                     const std::filesystem::path& folder,
                                                     int folder_fd,
                                                     std::shared_ptr<StagedObjects> staged) {
    start_git_library();
    auto handles = std::make_unique<Handles>();
    for (Odb* odb : {&handles->reading, &handles->writing, &handles->packs}) {
        git_odb* raw = nullptr;
        if (git_odb_new(&raw) < 0) {
            return last_git_error(Errc::io, "open checkpoint objects");
        }
        odb->reset(raw);
        if (odb != &handles->packs) {
            if (auto added = add_loose(raw, folder.string()); !added) {
                return added.error();
            }
        }
        if (odb != &handles->writing) {
            if (auto added = add_packs(raw, folder.string()); !added) {
                return added.error();
            }
        }
    }
    return std::unique_ptr<GitObjects>(
        new GitObjects(os, folder_fd, std::move(handles), std::move(staged)));
}

GitId GitObjects::id_of(GitType type, std::string_view bytes) {
    start_git_library();
    git_oid oid = {};
    git_odb_hash(&oid, bytes.data(), bytes.size(), to_git(type));
    return from_oid(oid);
}

Result<GitId> GitObjects::write(GitType type, std::string_view bytes) {
    const GitId id = id_of(type, bytes);
    if (is_staging_) {
        staged_->put(id, type, bytes);
        return id;
    }
    const std::string name = loose_name(id);
    auto there = os_.stat_beneath(folder_fd_, name);
    if (!there && there.error().code() != Errc::not_found) {
        return there.error().during("write checkpoint object");
    }
    if (there) {
        // libgit2 takes an existing file for the object itself, even an empty one: look for
        // ourselves.
        if (auto existing = read(id); existing && existing->bytes == bytes) {
            if (auto synced = sync_existing(name); !synced) {
                return synced.error();
            }
            return id;
        }
        if (auto gone = os_.remove(folder_fd_, name); !gone) {
            return gone.error().during("replace a broken checkpoint object");
        }
    }
    if (auto written = write_new(id, type, bytes); !written) {
        return written.error();
    }
    return id;
}

Result<> GitObjects::write_new(const GitId& id, GitType type, std::string_view bytes) {
    git_oid oid = to_oid(id);
    errno = 0;
    if (git_odb_write(&oid, handles_->writing.get(), bytes.data(), bytes.size(), to_git(type)) <
        0) {
        const int reason = errno;
        // A failed sync is final: the kernel may have dropped the pages, a second sync would lie.
        disk_failed_ = disk_failed_ || reason == EIO;
        const bool full = reason == ENOSPC || reason == EDQUOT;
        return last_git_error(full ? Errc::full : Errc::io, "write checkpoint object");
    }
    return {};
}

Result<> GitObjects::sync_existing(const std::string& name) {
    auto file = os_.open_beneath(folder_fd_, name, OpenMode::read);
    if (!file) {
        return file.error().during("sync checkpoint object");
    }
    auto folder = os_.open_beneath(folder_fd_, name.substr(0, 2), OpenMode::directory);
    if (!folder) {
        return folder.error().during("sync checkpoint object");
    }
    for (const int fd : {file->get(), folder->get()}) {
        if (auto synced = os_.full_sync(fd); !synced) {
            disk_failed_ = true;
            return synced.error().during("sync checkpoint object");
        }
    }
    return {};
}

Result<> GitObjects::write_unsynced(const GitId& id, GitType type, std::string_view bytes) {
    const std::string name = loose_name(id);
    auto there = os_.stat_beneath(folder_fd_, name);
    if (!there && there.error().code() != Errc::not_found) {
        return there.error().during("write checkpoint object");
    }
    if (there) {
        const auto whole = read_from_folder(id);
        if (whole && whole->type == type && whole->bytes == bytes) {
            return {};
        }
        if (auto gone = os_.remove(folder_fd_, name); !gone) {
            return gone.error().during("replace a broken checkpoint object");
        }
    }
    return write_loose(os_, folder_fd_, name, loose_bytes(name_of(type), bytes));
}

Result<> GitObjects::remove_loose(const GitId& id) {
    auto gone = os_.remove(folder_fd_, loose_name(id));
    return gone || gone.error().code() == Errc::not_found
               ? Result<>()
               : Result<>(gone.error().during("remove packed object"));
}

bool GitObjects::is_packed(const GitId& id) const {
    const git_oid oid = to_oid(id);
    return git_odb_exists_ext(handles_->packs.get(), &oid, GIT_ODB_LOOKUP_NO_REFRESH) != 0;
}

Result<> GitObjects::refresh() {
    for (git_odb* odb : {handles_->reading.get(), handles_->packs.get()}) {
        if (git_odb_refresh(odb) < 0) {
            return last_git_error(Errc::io, "look for checkpoint packs");
        }
    }
    return {};
}

Result<GitObject> GitObjects::read(const GitId& id) const {
    if (staged_) {
        if (const auto staged = staged_->find(id)) {
            return GitObject{staged->type, *staged->bytes};
        }
    }
    return read_from_folder(id);
}

Result<GitObject> GitObjects::read_from_folder(const GitId& id) const {
    const git_oid oid = to_oid(id);
    git_odb_object* raw = nullptr;
    const int outcome = git_odb_read(&raw, handles_->reading.get(), &oid);
    if (outcome < 0) {
        return last_git_error(outcome == GIT_ENOTFOUND ? Errc::not_found : Errc::corrupt,
                              "read checkpoint object " + id.hex());
    }
    const OdbObject object(raw);
    GitObject found;
    switch (git_odb_object_type(raw)) {
        case GIT_OBJECT_COMMIT:
            found.type = GitType::commit;
            break;
        case GIT_OBJECT_TREE:
            found.type = GitType::tree;
            break;
        case GIT_OBJECT_BLOB:
            found.type = GitType::blob;
            break;
        case GIT_OBJECT_TAG:
        case GIT_OBJECT_ANY:
        case GIT_OBJECT_INVALID:
        case GIT_OBJECT_OFS_DELTA:
        case GIT_OBJECT_REF_DELTA:
            return Error(Errc::corrupt, "read checkpoint object " + id.hex() + ": unexpected type");
    }
    found.bytes.assign(static_cast<const char*>(git_odb_object_data(raw)),
                       git_odb_object_size(raw));
    return found;
}

Result<std::string> GitObjects::read(const GitId& id, GitType type) const {
    auto object = read(id);
    if (!object) {
        return object.error();
    }
    if (object->type != type) {
        return Error(
            Errc::corrupt,
            "read checkpoint object " + id.hex() + ": not a " + std::string(name_of(type)));
    }
    return std::move(object->bytes);
}

Result<std::uint64_t> GitObjects::size_of(const GitId& id) const {
    if (staged_) {
        if (const auto staged = staged_->find(id)) {
            return std::uint64_t{staged->bytes->size()};
        }
    }
    const git_oid oid = to_oid(id);
    std::size_t bytes = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    const int outcome = git_odb_read_header(&bytes, &type, handles_->reading.get(), &oid);
    if (outcome < 0) {
        return last_git_error(outcome == GIT_ENOTFOUND ? Errc::not_found : Errc::corrupt,
                              "read checkpoint object " + id.hex());
    }
    return std::uint64_t{bytes};
}

bool GitObjects::is_whole(const GitId& id) const {
    return size_of(id).has_value();
}

Result<> GitObjects::replace(GitType type, std::string_view bytes) {
    const GitId id = id_of(type, bytes);
    if (auto gone = os_.remove(folder_fd_, loose_name(id));
        !gone && gone.error().code() != Errc::not_found) {
        return gone.error().during("replace a broken checkpoint object");
    }
    return write_new(id, type, bytes);
}

Result<std::vector<GitId>> GitObjects::commits() const {
    std::vector<GitId> ids;
    const auto collect = [](const git_oid* oid, void* payload) {
        static_cast<std::vector<GitId>*>(payload)->push_back(from_oid(*oid));
        return 0;
    };
    if (git_odb_foreach(handles_->reading.get(), collect, &ids) < 0) {
        return last_git_error(Errc::io, "list checkpoint objects");
    }
    std::erase_if(ids, [this](const GitId& id) {
        const git_oid oid = to_oid(id);
        std::size_t bytes = 0;
        git_object_t type = GIT_OBJECT_INVALID;
        return git_odb_read_header(&bytes, &type, handles_->reading.get(), &oid) != 0 ||
               type != GIT_OBJECT_COMMIT;
    });
    return ids;
}

}  // namespace daybook
