#include "host/checkpoint/restore_intent.hpp"

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxIntent = 64UL * 1024;

std::string place_of(std::string_view folder) {
    return (folder.empty() ? "" : std::string(folder) + "/") + std::string(kRestoreIntentFile);
}

}  // namespace

Result<std::optional<RestoreIntent>> read_restore_intent(Os& os, int dir, std::string_view folder) {
    const std::string place = place_of(folder);
    auto text = read_file(os, dir, place, kMaxIntent);
    if (!text) {
        return text.error().code() == Errc::not_found
                   ? Result<std::optional<RestoreIntent>>(std::nullopt)
                   : text.error();
    }
    auto json = Json::parse(*text);
    RestoreIntent intent;
    if (json) {
        intent.checkpoint = (*json)["checkpoint"].as_string();
        intent.checkpoint_commit = (*json)["checkpoint_commit"].as_string();
        intent.from = (*json)["from"].as_string();
        intent.from_commit = (*json)["from_commit"].as_string();
        intent.file = unquote_path((*json)["file"].as_string()).value_or("");
        intent.turn = (*json)["turn"].as_string();
        intent.session = (*json)["session"].as_string();
    }
    if (!json || !GitId::from_hex(intent.checkpoint_commit) ||
        !GitId::from_hex(intent.from_commit)) {
        return Error(Errc::corrupt,
                     "read " + place + ": not the record of a restore that has begun");
    }
    return std::optional<RestoreIntent>(std::move(intent));
}

Result<> write_restore_intent(Os& os,
                              int dir,
                              std::string_view folder,
                              const RestoreIntent& intent) {
    const Json json = Json::object()
                          .set("v", 1)
                          .set("checkpoint", intent.checkpoint)
                          .set("checkpoint_commit", intent.checkpoint_commit)
                          .set("from", intent.from)
                          .set("from_commit", intent.from_commit)
                          .set("file", intent.file.empty() ? "" : quote_path(intent.file))
                          .set("turn", intent.turn)
                          .set("session", intent.session);
    return write_file_durably(os, dir, place_of(folder), json.dump() + "\n");
}

Result<> remove_restore_intent(Os& os, int dir, std::string_view folder) {
    auto gone = os.remove(dir, place_of(folder));
    if (!gone && gone.error().code() != Errc::not_found) {
        return gone;
    }
    auto opened = os.open_beneath(dir, folder, OpenMode::directory);
    return opened ? os.full_sync(opened->get()) : Result<>(opened.error());
}

}  // namespace daybook
