#include "host/session/session_store.hpp"

#include <algorithm>

#include "host/session/session_line.hpp"

namespace daybook {
namespace {

constexpr std::string_view kStateFile = "state.json";
constexpr std::string_view kSummaries = "summaries";

constexpr std::string_view kMarkStart = "<!-- session ";
constexpr std::string_view kMarkEnd = " -->\n";
constexpr std::size_t kMaxSummaryBytes = 4UL * 1024 * 1024;

std::string summary_file(DeskDate day) {
    return std::string(kSummaries) + "/" + day.str() + ".md";
}

/// Stands before a session's part of the day's summary. Text cannot contain it: see write_summary.
std::string summary_mark(std::string_view session) {
    return std::string(kMarkStart).append(session).append(" -->");
}

std::string without_comments_marks(std::string_view text) {
    std::string out;
    for (auto at = text.find("<!--"); at != std::string_view::npos; at = text.find("<!--")) {
        out.append(text.substr(0, at)).append("<! --");
        text.remove_prefix(at + 4);
    }
    return out.append(text);
}

}  // namespace

Result<std::unique_ptr<SessionStore>> SessionStore::open(Os& os,
                                                         const Clock& clock,
                                                         int state_dir,
                                                         std::string folder) {
    if (auto made = make_directories(os, state_dir, folder + "/" + std::string(kSummaries));
        !made) {
        return made.error();
    }
    auto dir = os.open_beneath(state_dir, folder, OpenMode::directory);
    if (!dir) {
        return dir.error();
    }
    std::unique_ptr<SessionStore> store(new SessionStore(os, clock, std::move(*dir)));
    if (auto loaded = store->load(); !loaded) {
        return loaded.error().during("open " + folder);
    }
    return store;
}

Result<> SessionStore::save_state(DeskState state) {
    auto written =
        write_file_durably(os_, folder_.get(), kStateFile, state.to_json().dump() + "\n");
    if (!written) {
        return written.error();
    }
    state_ = std::move(state);
    return {};
}

Result<std::string> SessionStore::open_session(DeskDate day,
                                               std::string_view opening_text,
                                               Json extra) {
    auto names = list_session_names(os_, folder_.get());
    if (!names) {
        return names.error();
    }
    SessionName name{day, 1};
    for (const SessionName& taken : *names) {
        if (taken.day == day) {
            name.number = std::max(name.number, taken.number + 1);
        }
    }
    SessionRecord opening;
    opening.seq = 1;
    opening.ts = clock_.now();
    opening.kind = "opening";
    opening.text = opening_text;
    opening.extra = std::move(extra);
    // Whole or absent: a session file always begins with its opening line.
    const auto line = fit_line(opening);
    if (!line) {
        return line.error().during("open session " + name.str());
    }
    if (auto made = write_file_durably(os_, folder_.get(), name.file(), *line); !made) {
        return made.error().during("open session " + name.str());
    }
    auto file = os_.open_beneath(folder_.get(), name.file(), OpenMode::append);
    if (!file) {
        return file.error();
    }
    DeskState state = state_;
    state.session = name.str();
    state.session_day = day;
    if (state.rollover && state.rollover->folded) {
        state.rollover->opened = true;
    }
    if (auto saved = save_state(std::move(state)); !saved) {
        return saved.error();
    }
    file_ = std::move(*file);
    file_bytes_ = durable_bytes_ = line->size();
    next_seq_ = 2;
    held_bytes_ = weight_of(opening);
    conversation_.clear();
    conversation_.push_back(std::move(opening));
    return name.str();
}

Result<> SessionStore::append(std::vector<SessionRecord> records, bool sync) {
    if (!file_) {
        return Error(Errc::unavailable, "append to the session: no session is open");
    }
    if (records.empty()) {
        return sync ? this->sync() : Result<>();
    }
    std::string lines;
    std::uint64_t seq = next_seq_;
    const Timestamp now = clock_.now();
    for (SessionRecord& record : records) {
        record.seq = seq++;
        record.ts = now;
        auto line = fit_line(record);
        if (!line) {
            return line.error().during("append to session " + state_.session);
        }
        lines += *line;
    }
    if (auto written = write_lines(lines, sync); !written) {
        return written.error().during("append to session " + state_.session);
    }
    next_seq_ = seq;
    remember(std::move(records));
    return {};
}

void SessionStore::remember(std::vector<SessionRecord> records) {
    for (SessionRecord& record : records) {
        held_bytes_ += weight_of(record);
        conversation_.push_back(std::move(record));
    }
    if (held_bytes_ <= kMaxHeldSession) {
        return;
    }
    drop_oldest_turns(conversation_, kMaxHeldSession / 2);
    held_bytes_ = 0;
    for (const SessionRecord& record : conversation_) {
        held_bytes_ += weight_of(record);
    }
}

Result<> SessionStore::write_lines(std::string_view lines, bool sync) {
    if (broken_) {
        return Error(Errc::unavailable, *broken_);
    }
    if (auto written = os_.write_all(file_.get(), lines); !written) {
        // A part of a line may be there: nobody was told of it, and the next line must not join it.
        if (auto cut = os_.truncate(file_.get(), file_bytes_); !cut) {
            broken_ = "an unfinished line could not be cut: " + cut.error().message();
        }
        return written;
    }
    file_bytes_ += lines.size();
    return sync ? this->sync() : Result<>();
}

Result<> SessionStore::sync() {
    if (!file_) {
        return {};
    }
    if (broken_) {
        return Error(Errc::unavailable, *broken_);
    }
    if (auto synced = os_.data_sync(file_.get()); !synced) {
        // What the kernel dropped cannot be known: nothing more is acknowledged until a new start
        // reads the file.
        broken_ = "a sync failed earlier: " + synced.error().message();
        return synced;
    }
    durable_bytes_ = file_bytes_;
    return {};
}

void SessionStore::close_session() {
    file_.reset();
    conversation_.clear();
    next_seq_ = 1;
    file_bytes_ = durable_bytes_ = 0;
    held_bytes_ = 0;
}

Result<std::vector<SessionRecord>> SessionStore::read(std::string_view session,
                                                      std::size_t* bad_lines) const {
    auto name = SessionName::parse(session);
    if (!name) {
        return name.error();
    }
    auto lines = read_session_file(os_, folder_.get(), name->file());
    if (!lines) {
        return lines.error();
    }
    if (bad_lines != nullptr) {
        *bad_lines = lines->bad_lines;
    }
    return std::move(lines->records);
}

Result<std::vector<SessionInfo>> SessionStore::list() const {
    auto names = list_session_names(os_, folder_.get());
    if (!names) {
        return names.error();
    }
    constexpr std::size_t kChunk = 1UL << 20;
    std::vector<SessionInfo> sessions;
    for (const SessionName& name : *names) {
        auto file = os_.open_beneath(folder_.get(), name.file(), OpenMode::read);
        if (!file) {
            return file.error();
        }
        SessionInfo info{name.str(), name.day, name.number, 0, 0};
        while (true) {
            auto chunk = os_.read_at(file->get(), info.bytes, kChunk);
            if (!chunk) {
                return chunk.error();
            }
            if (chunk->empty()) {
                break;
            }
            info.bytes += chunk->size();
            info.lines +=
                static_cast<std::uint64_t>(std::count(chunk->begin(), chunk->end(), '\n'));
        }
        sessions.push_back(std::move(info));
    }
    return sessions;
}

Result<> SessionStore::write_summary(DeskDate day,
                                     std::string_view session,
                                     std::string_view text) {
    auto there = read_summary(day);
    if (!there) {
        return there.error();
    }
    const std::string mark = summary_mark(session);
    std::string whole = *there ? **there : "# " + day.str() + "\n";
    if (whole.find(mark) != std::string::npos) {
        return {};
    }
    whole += "\n" + mark + "\n" + without_comments_marks(text);
    if (!whole.ends_with('\n')) {
        whole += '\n';
    }
    return write_file_durably(os_, folder_.get(), summary_file(day), whole);
}

Result<bool> SessionStore::has_summary(DeskDate day, std::string_view session) const {
    auto there = read_summary(day);
    if (!there) {
        return there.error();
    }
    return there->has_value() && (*there)->find(summary_mark(session)) != std::string::npos;
}

Result<std::optional<std::string>> SessionStore::read_summary(DeskDate day) const {
    auto text = read_file(os_, folder_.get(), summary_file(day), kMaxSummaryBytes);
    if (text) {
        return std::optional<std::string>(std::move(*text));
    }
    if (text.error().code() == Errc::not_found) {
        return std::optional<std::string>();
    }
    return text.error();
}

Result<std::vector<SummaryPart>> SessionStore::summary_parts(DeskDate day) const {
    auto there = read_summary(day);
    if (!there) {
        return there.error();
    }
    std::vector<SummaryPart> parts;
    const std::string_view whole = *there ? std::string_view(**there) : std::string_view();
    for (auto at = whole.find(kMarkStart); at != std::string_view::npos;) {
        const auto name = at + kMarkStart.size();
        const auto end = whole.find(kMarkEnd, name);
        if (end == std::string_view::npos) {
            break;
        }
        const auto text = end + kMarkEnd.size();
        at = whole.find(kMarkStart, text);
        parts.push_back({day,
                         std::string(whole.substr(name, end - name)),
                         std::string(whole.substr(text, at - text))});
    }
    return parts;
}

Result<> SessionStore::replace_summary(const SummaryPart& former, std::string_view text) {
    auto there = read_summary(former.day);
    if (!there) {
        return there.error();
    }
    std::string whole = there->value_or("");
    const std::string part = summary_mark(former.session) + "\n" + former.text;
    const auto at = whole.find(part);
    const auto end = at == std::string::npos ? at : at + part.size();
    if (at == std::string::npos ||
        (end != whole.size() && !whole.substr(end).starts_with("<!--"))) {
        return Error(Errc::conflict,
                     "replace the summary of session " + former.session + " in " +
                         summary_file(former.day) + ": it was changed meanwhile");
    }
    std::string fresh = summary_mark(former.session) + "\n" + without_comments_marks(text);
    fresh += fresh.ends_with('\n') ? "" : "\n";
    fresh += end == whole.size() ? "" : "\n";
    whole.replace(at, part.size(), fresh);
    return write_file_durably(os_, folder_.get(), summary_file(former.day), whole);
}

Result<std::vector<DeskDate>> SessionStore::summary_days() const {
    auto entries = os_.list(folder_.get(), kSummaries);
    if (!entries) {
        return entries.error();
    }
    std::vector<DeskDate> days;
    for (const DirectoryEntry& entry : *entries) {
        if (!entry.is_regular || !entry.name.ends_with(".md")) {
            continue;
        }
        auto day = DeskDate::parse(std::string_view(entry.name).substr(0, entry.name.size() - 3));
        if (day) {
            days.push_back(*day);
        }
    }
    std::sort(days.begin(), days.end());
    return days;
}

Result<std::optional<DeskDate>> SessionStore::last_summary_day() const {
    auto days = summary_days();
    if (!days) {
        return days.error();
    }
    return days->empty() ? std::optional<DeskDate>() : std::optional(days->back());
}

}  // namespace daybook
