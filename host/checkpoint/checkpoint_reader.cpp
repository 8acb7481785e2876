#include "host/checkpoint/checkpoint_reader.hpp"

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/folder_tree.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/log_overlay.hpp"
#include "host/format/sha256.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxNames = 256UL * 1024 * 1024;
constexpr std::size_t kIdDigits = 40;
constexpr std::string_view kRef = "refs/heads/checkpoints";

/// The last line that is an id.
std::optional<GitId> last_id(std::string_view lines) {
    while (!lines.empty()) {
        lines = lines.substr(0, lines.find_last_not_of('\n') + 1);
        const std::size_t before = lines.rfind('\n');
        const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
        if (auto id = GitId::from_hex(lines.substr(start))) {
            return id;
        }
        lines = lines.substr(0, start);
    }
    return std::nullopt;
}

/// The host's own tip, else git's ref, else the packed ref.
Result<std::optional<GitId>> find_tip(Os& os, int folder) {
    for (const std::string_view name : {std::string_view("daybook.tip"), kRef}) {
        auto text = read_file(os, folder, name, kMaxNames);
        if (!text && text.error().code() != Errc::not_found) {
            return text.error();
        }
        if (auto id = text ? last_id(*text) : std::nullopt) {
            return id;
        }
    }
    auto packed = read_file(os, folder, "packed-refs", kMaxNames);
    if (!packed) {
        return packed.error().code() == Errc::not_found
                   ? Result<std::optional<GitId>>(std::nullopt)
                   : Result<std::optional<GitId>>(packed.error());
    }
    const std::size_t at = packed->find(" " + std::string(kRef) + "\n");
    return at == std::string::npos || at < kIdDigits
               ? std::optional<GitId>()
               : GitId::from_hex(packed->substr(at - kIdDigits, kIdDigits));
}

}  // namespace

struct CheckpointReader::Impl {
    UniqueFd folder, objects_fd;
    std::unique_ptr<GitObjects> objects;
    std::map<std::string, Checkpoint> checkpoints;

    Result<CommitRecord> read_commit(const GitId& id) const {
        auto bytes = objects->read(id, GitType::commit);
        return bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
    }

    Result<> walk(std::optional<GitId> at) {
        std::uint64_t written = 0;
        std::string written_commit;
        while (at) {
            auto record = read_commit(*at);
            if (!record) {
                return record.error();
            }
            if (record->written != 0) {
                written = record->written;
                written_commit = at->hex();
            }
            if (record->number != 0) {
                Checkpoint checkpoint = record->to_checkpoint();
                checkpoint.commit = at->hex();
                if (written == checkpoint.number) {
                    checkpoint.written_commit = written_commit;
                }
                checkpoints.emplace(checkpoint.id, std::move(checkpoint));
            }
            at = record->parent;
        }
        return {};
    }
};

CheckpointReader::CheckpointReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

Result<CheckpointReader> CheckpointReader::open(Os& os, const std::filesystem::path& repository) {
    CheckpointReader reader(std::make_unique<Impl>());
    Impl& impl = *reader.impl_;
    auto folder = os.open_root(repository);
    if (!folder) {
        return folder.error().code() == Errc::not_found
                   ? Result<CheckpointReader>(std::move(reader))
                   : folder.error();
    }
    impl.folder = std::move(*folder);
    // The tip first: what a host that goes on working brings into git later is in the log until
    // then.
    auto tip = find_tip(os, impl.folder.get());
    if (!tip) {
        return tip.error().during("read " + repository.string());
    }
    auto overlay = read_log_overlay(os, repository, impl.folder.get());
    if (!overlay) {
        return overlay.error();
    }
    if (overlay->tip) {
        tip = overlay->tip;
    }
    auto objects_fd = os.open_beneath(impl.folder.get(), "objects", OpenMode::directory);
    if (!objects_fd) {
        return objects_fd.error().during("read " + repository.string());
    }
    impl.objects_fd = std::move(*objects_fd);
    auto objects =
        GitObjects::open(os, repository / "objects", impl.objects_fd.get(), overlay->staged);
    if (!objects) {
        return objects.error();
    }
    impl.objects = std::move(*objects);
    if (auto walked = impl.walk(*tip); !walked) {
        return walked.error().during("read " + repository.string());
    }
    return reader;
}

const std::map<std::string, Checkpoint>& CheckpointReader::all() const noexcept {
    return impl_->checkpoints;
}

Result<std::string> CheckpointReader::sha256_of(const Checkpoint& checkpoint,
                                                std::string_view path) const {
    const auto id = GitId::from_hex(checkpoint.commit);
    if (!id || !impl_->objects) {
        return Error(Errc::not_found, "read checkpoint " + checkpoint.id + ": there is none");
    }
    auto record = impl_->read_commit(*id);
    if (!record) {
        return record.error();
    }
    auto tree = FolderTree::load(*impl_->objects, record->tree);
    if (!tree) {
        return tree.error();
    }
    const auto file = tree->find(path);
    if (!file) {
        return std::string();
    }
    auto content = impl_->objects->read(file->id, GitType::blob);
    return content ? Result<std::string>(sha256_hex(*content)) : content.error();
}

}  // namespace daybook
