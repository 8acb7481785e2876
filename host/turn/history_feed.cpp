#include "host/turn/history_feed.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "host/format/sha256.hpp"
#include "host/journal/journal_file.hpp"
#include "host/journal/journal_reader.hpp"
#include "host/session/session_file.hpp"
#include "host/session/session_line.hpp"
#include "host/turn/history_cursor.hpp"
#include "host/turn/history_documents.hpp"

namespace daybook {
namespace {

constexpr std::uint64_t kTailBytes = 256;  ///< looked at before an offset
constexpr std::size_t kTailDigits = 16;
constexpr std::size_t kJournalPiece = 64;  ///< records read at once, of 64 KiB each at most
constexpr std::size_t kEmptyRecord = 200;  ///< what a record costs beside its text

/// What stands before `offset`, as a short hash. Errors: io; not_found when the file is shorter.
Result<std::string> tail_of(Os& os, int fd, std::uint64_t offset) {
    const std::uint64_t bytes = std::min(offset, kTailBytes);
    auto text = os.read_at(fd, offset - bytes, static_cast<std::size_t>(bytes));
    if (!text) {
        return text.error();
    }
    if (text->size() != bytes) {
        return Error(Errc::not_found, "the file is shorter than it was");
    }
    return bytes == 0 ? std::string() : sha256_hex(*text).substr(0, kTailDigits);
}

/// The whole lines of [from, to), each with the offset behind it, until `see` returns false.
/// Returns the offset behind the last line seen. A line longer than a session's is passed over.
Result<std::uint64_t> each_line(Os& os,
                                int fd,
                                std::uint64_t from,
                                std::uint64_t to,
                                const std::function<bool(std::string_view)>& see) {
    bool in_long_line = false;
    while (from < to) {
        const auto piece =
            static_cast<std::size_t>(std::min<std::uint64_t>(to - from, kMaxSessionLine + 1));
        auto read = os.read_at(fd, from, piece);
        if (!read) {
            return read.error();
        }
        std::string_view rest = *read;
        std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            if (rest.size() <= kMaxSessionLine) {
                return from;  // the last line is not whole yet
            }
            in_long_line = true;
            from += rest.size();
            continue;
        }
        for (; end != std::string_view::npos; end = rest.find('\n')) {
            const std::string_view line = rest.substr(0, end);
            if (!std::exchange(in_long_line, false) && !see(line)) {
                return from;
            }
            from += end + 1;
            rest.remove_prefix(end + 1);
        }
    }
    return from;
}

/// Who said what a journal record tells.
std::string source_of_record(const JournalEntry& entry) {
    const std::string& said = entry.data["source"].as_string();
    return !said.empty() && source_of(said) ? said : entry.by == "host" ? "host" : "tool";
}

/// The date of the file that holds the record: "main-20261019-000118".
std::optional<DeskDate> day_of(const JournalRecord& record) {
    const std::size_t seq = record.id.rfind('-');
    if (seq == std::string::npos || seq < 8) {
        return std::nullopt;
    }
    const std::string date = record.id.substr(seq - 8, 8);
    const auto day =
        DeskDate::parse(date.substr(0, 4) + "-" + date.substr(4, 2) + "-" + date.substr(6, 2));
    return day ? std::optional(*day) : std::nullopt;
}

Json journal_json(const JournalRecord& record, const std::string& day) {
    bool cut = false;
    Json json = Json::object();
    json.set("kind", "journal")
        .set("id", record.id)
        .set("group", "journal/" + day)
        .set("day", day)
        .set("at", to_rfc3339(record.ts))
        .set("source", source_of_record(record.entry))
        .set("part", record.entry.type)
        .set("turn", record.entry.turn)
        .set("text", record_text(record.entry.data.dump(), cut));
    return cut ? json.set("cut", true) : json;
}

/// One reading: the cursor moves on with what is put into the batch.
class Batch {
  public:
    Batch(Os& os,
          int home,
          const std::string& desk,
          Journal& journal,
          HistoryCursor cursor,
          std::size_t max_records,
          std::size_t max_bytes)
        : os_(os),
          home_(home),
          desk_(desk),
          journal_(journal),
          cursor_(std::move(cursor)),
          records_left_(max_records),
          bytes_left_(max_bytes) {}

    /// Whether the cursor's places are what they were. Errors: io.
    Result<bool> stands();
    /// Errors: io.
    Result<> add_sessions(std::string_view open_session, std::uint64_t durable);
    /// False: files were rewritten, everything must be read anew. Errors: io.
    Result<bool> add_journal();
    /// Errors: io.
    Result<> add_documents(int desk_dir);
    [[nodiscard]] std::string json(bool restart);

  private:
    [[nodiscard]] std::string session_folder() const { return "sessions/" + desk_; }
    Result<bool> is_same(int folder, const std::string& file, const GrowthPosition& position);
    Result<bool> add_session(int folder, const SessionName& name, std::uint64_t to);
    bool put(Json record);
    bool put_document_group(const std::string& name,
                            const DocumentGroup& group,
                            const HistoryDocuments& documents);
    [[nodiscard]] bool is_full() const { return full_; }
    [[nodiscard]] bool is_rewriting(const JournalRecord& record, DeskDate day) const;

    Os& os_;
    const int home_;
    const std::string& desk_;
    Journal& journal_;
    HistoryCursor cursor_;
    Json records_ = Json::array();
    std::size_t records_left_;
    std::size_t bytes_left_;
    bool full_ = false;
};

/// False when it does not fit any more; one record always does.
bool Batch::put(Json record) {
    const std::size_t cost = record["text"].as_string().size() + kEmptyRecord;
    const bool is_first = records_.items().empty();
    if (records_left_ == 0 || (cost > bytes_left_ && !is_first)) {
        full_ = true;
        return false;
    }
    --records_left_;
    bytes_left_ -= std::min(cost, bytes_left_);
    records_.push(std::move(record));
    return true;
}

Result<bool> Batch::is_same(int folder, const std::string& file, const GrowthPosition& position) {
    if (position.name.empty()) {
        return true;
    }
    auto fd = os_.open_beneath(folder, file, OpenMode::read, 0);
    auto tail = fd ? tail_of(os_, fd->get(), position.offset) : Result<std::string>(fd.error());
    if (!tail && tail.error().code() != Errc::not_found) {
        return tail.error();
    }
    return tail && *tail == position.tail;
}

Result<bool> Batch::stands() {
    auto folder = os_.open_beneath(home_, session_folder(), OpenMode::directory, 0);
    if (!folder) {
        return folder.error();
    }
    auto session = is_same(folder->get(), cursor_.session.name + ".jsonl", cursor_.session);
    if (!session || !*session) {
        return session;
    }
    return is_same(journal_.folder(), cursor_.journal.name + ".jsonl", cursor_.journal);
}

/// Lines of one session; false when the batch is full.
Result<bool> Batch::add_session(int folder, const SessionName& name, std::uint64_t to) {
    auto fd = os_.open_beneath(folder, name.file(), OpenMode::read, 0);
    if (!fd) {
        return fd.error();
    }
    const std::string session = name.str();
    const std::uint64_t from = cursor_.session.name == session ? cursor_.session.offset : 0;
    auto behind = each_line(os_, fd->get(), from, to, [&](std::string_view line) {
        const auto read = SessionRecord::from_line(line);
        if (!read) {
            return true;  // a bad line stays in the file and is passed over
        }
        bool cut = false;
        Json record = Json::object();
        record.set("kind", "exchange")
            .set("id", session + ":" + std::to_string(read->seq))
            .set("group", "session/" + session)
            .set("day", name.day.str())
            .set("at", to_rfc3339(read->ts))
            .set("source", name_of(read->source))
            .set("part", read->kind)
            .set("turn", read->turn)
            .set("text", record_text(read->text, cut));
        if (const Json& tool = read->extra["tool"]; tool.is_string()) {
            record.set("tool", tool);
        }
        return put(cut ? record.set("cut", true) : record);
    });
    if (!behind) {
        return behind.error();
    }
    auto tail = tail_of(os_, fd->get(), *behind);
    if (!tail) {
        return tail.error();
    }
    cursor_.session = {session, *behind, *tail};
    return !is_full();
}

Result<> Batch::add_sessions(std::string_view open_session, std::uint64_t durable) {
    auto folder = os_.open_beneath(home_, session_folder(), OpenMode::directory, 0);
    if (!folder) {
        return folder.error();
    }
    auto names = list_session_names(os_, folder->get());
    if (!names) {
        return names.error();
    }
    const auto from = SessionName::parse(cursor_.session.name);
    for (const SessionName& name : *names) {
        if (from && name < *from) {
            continue;
        }
        const std::uint64_t to = name.str() == open_session ? durable : UINT64_MAX;
        auto more = add_session(folder->get(), name, to);
        if (!more) {
            return more.error().during("read session " + name.str());
        }
        if (!*more) {
            return {};
        }
    }
    return {};
}

/// A forget masks what stands in files that this reader has passed.
bool Batch::is_rewriting(const JournalRecord& record, DeskDate day) const {
    return record.entry.type.starts_with("forg") &&
           (day.str() > cursor_.born_day ||
            (day.str() == cursor_.born_day && record.seq > cursor_.born_seq));
}

Result<bool> Batch::add_journal() {
    if (is_full()) {
        return true;
    }
    const JournalReader reader = JournalReader::of(journal_);
    auto days = reader.days();
    if (!days) {
        return days.error();
    }
    JournalPosition at;
    if (const auto day = DeskDate::parse(cursor_.journal.name)) {
        at = {*day, cursor_.journal.offset};
    }
    while (!is_full()) {
        // One by one from where it stands: the position is behind the last record that fitted.
        JournalPosition behind = at;
        auto lines = reader.follow(behind, std::min(kJournalPiece, records_left_ + 1));
        if (!lines) {
            return lines.error();
        }
        std::size_t taken = 0;
        for (const JournalRecord& record : lines->records) {
            const auto day = day_of(record);
            if (day && is_rewriting(record, *day)) {
                return false;
            }
            if (!put(journal_json(record, day ? day->str() : std::string()))) {
                break;
            }
            ++taken;
        }
        if (taken == lines->records.size()) {
            if (behind.day == at.day && behind.offset == at.offset) {
                break;  // nothing more
            }
            at = behind;
        } else {
            // Only so many fitted: the place behind the last of them.
            JournalPosition exact = at;
            if (taken > 0) {
                if (auto again = reader.follow(exact, taken); !again) {
                    return again.error();
                }
            }
            at = exact;
        }
    }
    if (at.offset > 0) {
        auto fd = os_.open_beneath(journal_.folder(), journal_file_name(at.day), OpenMode::read, 0);
        auto tail = fd ? tail_of(os_, fd->get(), at.offset) : Result<std::string>(fd.error());
        if (!tail) {
            return tail.error();
        }
        cursor_.journal = {at.day.str(), at.offset, *tail};
    }
    return true;
}

/// False when the batch is full before the group is given whole.
bool Batch::put_document_group(const std::string& name,
                               const DocumentGroup& group,
                               const HistoryDocuments& documents) {
    if (cursor_.group != name || cursor_.fingerprint != group.fingerprint) {
        Json clear = Json::object();
        clear.set("kind", "clear").set("id", name).set("group", name);
        if (!put(std::move(clear))) {
            return false;
        }
        cursor_.documents.erase(name);
        cursor_.group = name;
        cursor_.fingerprint = group.fingerprint;
        cursor_.given = 0;
    }
    std::vector<Json> records = documents.records(name, group);
    for (; cursor_.given < records.size(); ++cursor_.given) {
        if (!put(std::move(records[cursor_.given]))) {
            return false;
        }
    }
    if (!group.files.empty()) {
        cursor_.documents[name] = group.fingerprint;
    }
    cursor_.group.clear();
    cursor_.fingerprint.clear();
    cursor_.given = 0;
    return true;
}

Result<> Batch::add_documents(int desk_dir) {
    if (is_full()) {
        return {};
    }
    auto summaries =
        os_.open_beneath(home_, session_folder() + "/summaries", OpenMode::directory, 0);
    if (!summaries && summaries.error().code() != Errc::not_found) {
        return summaries.error();
    }
    const HistoryDocuments documents(os_, desk_dir, summaries ? summaries->get() : -1);
    auto groups = documents.groups();
    if (!groups) {
        return groups.error();
    }
    const auto known = cursor_.documents;  // a copy: giving a group changes it
    for (const auto& [name, print] : known) {
        if (!groups->contains(name) && !put_document_group(name, {}, documents)) {
            return {};
        }
    }
    for (const auto& [name, group] : *groups) {
        const auto given = cursor_.documents.find(name);
        const bool is_new = given == cursor_.documents.end() || given->second != group.fingerprint;
        if (is_new && !put_document_group(name, group, documents)) {
            return {};
        }
    }
    return {};
}

std::string Batch::json(bool restart) {
    return Json::object()
        .set("restart", restart)
        .set("more", full_)
        .set("cursor", cursor_.to_text())
        .set("records", std::move(records_))
        .dump();
}

}  // namespace

HistoryFeed::HistoryFeed(
    Os& os, int home, int desk_dir, std::string desk, Journal& journal, SessionStore& sessions)
    : os_(os),
      home_(home),
      desk_dir_(desk_dir),
      desk_(std::move(desk)),
      journal_(journal),
      sessions_(sessions) {}

Result<std::string> HistoryFeed::read(const std::string& cursor,
                                      std::size_t max_records,
                                      std::size_t max_bytes) {
    // What was said in this turn is fed too, once it is on the disk. A session whose sync fails is
    // fed up to the last one that did not.
    if (sessions_.has_unsynced()) {
        static_cast<void>(sessions_.sync());
    }
    HistoryCursor fresh;
    fresh.desk = desk_;
    if (const auto end = journal_.durable_end()) {
        fresh.born_day = end->day.str();
        fresh.born_seq = end->seq;
    }
    const auto parsed = HistoryCursor::parse(cursor, desk_);
    bool restart = !cursor.empty() && !parsed;
    HistoryCursor from = parsed.value_or(fresh);
    for (int attempt = 0; attempt < 2; ++attempt) {
        Batch batch(os_, home_, desk_, journal_, from, max_records, max_bytes);
        auto stands = batch.stands();
        if (!stands) {
            return stands.error().during("read the history");
        }
        bool whole = *stands;
        if (whole) {
            auto added = batch.add_sessions(sessions_.state().session, sessions_.durable_bytes());
            auto journal = added ? batch.add_journal() : Result<bool>(added.error());
            if (!journal) {
                return journal.error().during("read the history");
            }
            whole = *journal;
        }
        if (whole) {
            auto added = batch.add_documents(desk_dir_);
            return added ? Result<std::string>(batch.json(restart))
                         : added.error().during("read the history");
        }
        restart = true;
        from = fresh;
    }
    return Error(Errc::io, "read the history: its files changed while they were read");
}

}  // namespace daybook
