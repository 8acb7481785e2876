#include "host/checkpoint/record_replay.hpp"

#include <algorithm>

namespace daybook {
namespace {

constexpr std::string_view kConflicts = ".daybook/conflicts/";

}  // namespace

bool is_of_one_commit(std::string_view path) {
    return path.starts_with(kConflicts);
}

Error misfit(const LogRecord& record, const std::string& what) {
    return Error(Errc::corrupt,
                 "record " + std::to_string(record.sequence) + " of the log: " + what);
}

Result<std::optional<GitId>> parent_of_records(const std::vector<LogRecord>& records) {
    const auto first = std::find_if(records.begin(), records.end(), [](const LogRecord& record) {
        return !record.commit.empty();
    });
    if (first == records.end()) {
        return std::optional<GitId>();
    }
    auto commit = CommitRecord::parse(first->commit);
    if (!commit || !commit->parent) {
        return misfit(*first, "not a commit after another");
    }
    return commit->parent;
}

Result<> RecordReplay::put_content(const LogRecord& record, const LoggedChange& change) {
    const auto announced = announced_.find(change.file->id);
    if (change.bytes || announced != announced_.end()) {
        auto put = objects_.write(GitType::blob, change.bytes ? *change.bytes : announced->second);
        return put ? Result<>() : Result<>(put.error());
    }
    return objects_.is_whole(change.file->id)
               ? Result<>()
               : misfit(record, "the content of " + quote_path(change.path) + " is missing");
}

Result<std::optional<RecordReplay::Made>> RecordReplay::apply(const LogRecord& record,
                                                              const std::optional<GitId>& parent) {
    if (record.write && record.write->content) {
        const std::string& content = *record.write->content;
        announced_[GitObjects::id_of(GitType::blob, content)] = content;
    }
    for (const LoggedChange& change : record.changes) {
        tree_.put(change.path, change.file);
        if (auto put = change.file ? put_content(record, change) : Result<>(); !put) {
            return put.error();
        }
    }
    if (record.commit.empty()) {
        return std::optional<Made>();
    }
    auto commit = CommitRecord::parse(record.commit);
    auto root = tree_.write(objects_);
    if (!commit || !root) {
        return commit ? root.error() : misfit(record, "not a commit");
    }
    if (commit->tree != *root || commit->parent != parent) {
        return misfit(record, "its commit does not fit the one before");
    }
    auto id = objects_.write(GitType::commit, record.commit);
    if (!id) {
        return id.error();
    }
    for (const LoggedChange& change : record.changes) {
        if (is_of_one_commit(change.path)) {
            tree_.remove(change.path);
        }
    }
    return std::optional<Made>(Made{*id, std::move(*commit)});
}

}  // namespace daybook
