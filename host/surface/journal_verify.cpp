#include "host/surface/journal_verify.hpp"

#include <optional>

#include "host/journal/journal_file.hpp"
#include "host/os/desk_path.hpp"
#include "host/surface/journal_sessions.hpp"
#include "host/surface/journal_turns.hpp"
#include "host/surface/line_reader.hpp"

namespace daybook {
namespace {

/// A write as the journal tells it, to be held against its checkpoint.
struct Write {
    LinePlace place;
    std::string path, checkpoint, before, after;
};

std::optional<Write> write_of(const JournalRecord& record, const LinePlace& place) {
    const std::string& type = record.entry.type;
    const Json& data = record.entry.data;
    if (record.entry.by != "host" ||
        (type != "note_written" && type != "file_written" && type != "restore")) {
        return std::nullopt;
    }
    return Write{place,
                 data["path"].as_string(),
                 data["checkpoint"].as_string(),
                 data["sha256_before"].as_string(),
                 data["sha256"].as_string()};
}

class Verifier {
  public:
    Verifier(Os& os, std::filesystem::path state, std::string desk, const CheckpointSource& source)
        : os_(os), state_(std::move(state)), desk_(std::move(desk)), source_(source) {}

    Result<JournalProof> run() {
        auto home = os_.open_root(state_);
        if (!home) {
            return home.error();
        }
        auto folder = os_.open_beneath(home->get(), "journal/" + desk_, OpenMode::directory);
        if (!folder) {
            return folder.error();
        }
        auto days = journal_days(os_, folder->get());
        if (!days) {
            return days.error();
        }
        for (const DeskDate day : *days) {
            if (auto read = read_day(folder->get(), day); !read) {
                return read.error();
            }
        }
        turns_.finish();
        if (auto read = read_sessions(home->get()); !read) {
            return read.error();
        }
        if (auto checked = check_writes(); !checked) {
            return checked.error();
        }
        return std::move(proof_);
    }

  private:
    Result<> read_day(int folder, DeskDate day) {
        ++proof_.days;
        const std::string name = journal_file_name(day);
        auto file = os_.open_beneath(folder, name, OpenMode::read);
        if (!file) {
            return file.error();
        }
        std::uint64_t expected = 0;
        return read_lines(os_, file->get(), kMaxJournalLine, [&](const ReadLine& line) {
            const LinePlace place{"journal/" + desk_ + "/" + name, line.number};
            if (line.is_unfinished) {
                proof_.note(place,
                            "an unfinished line: it is being written, or the next start sets it "
                            "aside");
                return;
            }
            ++proof_.lines;
            ++expected;
            auto record = JournalRecord::from_line(line.text);
            if (record) {
                take(*record, day, place, expected);
            } else if (record.error().code() == Errc::unsupported) {
                proof_.note(place, record.error().message());
            } else {
                proof_.find(place, record.error().message());
            }
        });
    }

    void take(const JournalRecord& record,
              DeskDate day,
              const LinePlace& place,
              std::uint64_t& expected) {
        if (record.seq != expected) {
            proof_.find(place,
                        "seq " + std::to_string(record.seq) + " where " + std::to_string(expected) +
                            " belongs");
            expected = record.seq;
        }
        if (record.id != JournalRecord::make_id(desk_, day, record.seq)) {
            proof_.find(place,
                        "id " + record.id + " where " +
                            JournalRecord::make_id(desk_, day, record.seq) + " belongs");
        }
        if (auto write = write_of(record, place)) {
            ++proof_.writes;
            writes_.push_back(std::move(*write));
        }
        turns_.take(record, place);
    }

    Result<> read_sessions(int home) {
        const std::string folder = "sessions/" + desk_;
        auto dir = os_.open_beneath(home, folder, OpenMode::directory);
        if (!dir) {
            return dir.error().code() == Errc::not_found && turns_.turns().empty()
                       ? Result<>()
                       : Result<>(dir.error());
        }
        return JournalSessions(os_, dir->get(), folder, turns_, proof_).run();
    }

    Result<> check_writes() {
        if (writes_.empty()) {
            return {};
        }
        auto all = source_.all();
        if (!all) {
            return all.error();
        }
        for (const Write& write : writes_) {
            check_write(write, *all);
        }
        return {};
    }

    void check_write(const Write& write, const std::map<std::string, Checkpoint>& all) {
        const auto known = all.find(write.checkpoint);
        if (known == all.end()) {
            proof_.find(write.place,
                        "the write of " + write.path + " has no checkpoint before it: " +
                            (write.checkpoint.empty() ? "none is named"
                                                      : write.checkpoint + " does not exist") +
                            record_log_hint());
            return;
        }
        const Checkpoint& checkpoint = known->second;
        if (write.path.empty()) {
            return;  // several files at once: its checkpoint holds them all
        }
        const std::string of = "checkpoint " + checkpoint.id + " ";
        if (checkpoint.file != write.path) {
            proof_.find(
                write.place,
                of + "was taken before a write of " + checkpoint.file + ", not of " + write.path);
            return;
        }
        if (checkpoint.base_sha256 != write.before || checkpoint.intended_sha256 != write.after) {
            proof_.find(write.place, of + "announced other contents of " + write.path);
        }
        const auto path = DeskPath::parse(write.path);
        auto former = path ? source_.former(checkpoint, *path) : Result<std::string>(path.error());
        if (!former) {
            proof_.find(write.place,
                        of + "cannot give " + write.path + " back: " + former.error().message());
        } else if (*former != write.before) {
            proof_.find(write.place, of + "does not hold what " + write.path + " was before");
        }
    }

    /// A killed host may have left checkpoints in its record log that git does not hold yet.
    std::string record_log_hint() const {
        std::error_code missing;
        const auto log = state_ / "workspace/.checkpoints" / (desk_ + ".git") / "daybook.records";
        return std::filesystem::exists(log, missing)
                   ? "; if the host was killed, start it once: it brings its record log into git"
                   : "";
    }

    Os& os_;
    const std::filesystem::path state_;
    const std::string desk_;
    const CheckpointSource& source_;
    JournalProof proof_;
    JournalTurns turns_{proof_};
    std::vector<Write> writes_;
};

Json list_json(const std::vector<JournalFinding>& findings) {
    Json list = Json::array();
    for (const JournalFinding& finding : findings) {
        list.push(Json::object()
                      .set("file", finding.place.file)
                      .set("line", std::size_t{finding.place.line})
                      .set("what", finding.what));
    }
    return list;
}

}  // namespace

Result<JournalProof> verify_journal(Os& os,
                                    const std::filesystem::path& state,
                                    const std::string& desk,
                                    const CheckpointSource& checkpoints) {
    auto proof = Verifier(os, state, desk, checkpoints).run();
    return proof ? std::move(proof) : proof.error().during("verify the journal of " + desk);
}

Json proof_json(const std::string& desk, const JournalProof& proof) {
    return Json::object()
        .set("desk", desk)
        .set("ok", proof.findings.empty())
        .set("days", std::size_t{proof.days})
        .set("lines", std::size_t{proof.lines})
        .set("turns", std::size_t{proof.turns})
        .set("writes", std::size_t{proof.writes})
        .set("effects", std::size_t{proof.effects})
        .set("flushes", std::size_t{proof.flushes})
        .set("compressions", std::size_t{proof.compressions})
        .set("rollovers", std::size_t{proof.rollovers})
        .set("sessions", std::size_t{proof.sessions})
        .set("summaries", std::size_t{proof.summaries})
        .set("findings", list_json(proof.findings))
        .set("notes", list_json(proof.notes));
}

}  // namespace daybook
