// Opening a session store: reads the state, or rebuilds it from the files, and mends what a crash
// left in the open session's file.
#include <algorithm>
#include <charconv>

#include "host/session/session_line.hpp"
#include "host/session/session_store.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxStateBytes = 256UL * 1024;

/// 42 of "t-42"; 0 for anything else.
std::uint64_t turn_number(std::string_view turn) {
    std::uint64_t number = 0;
    if (turn.starts_with("t-")) {
        const auto [end, error] =
            std::from_chars(turn.data() + 2, turn.data() + turn.size(), number);
        if (error != std::errc() || end != turn.data() + turn.size()) {
            return 0;
        }
    }
    return number;
}

/// What each answer says of its model, newest last, so that a crash after an answer loses none of
/// it.
void take_from_answers(const std::vector<SessionRecord>& records, DeskState& state) {
    for (const SessionRecord& record : records) {
        state.next_turn = std::max(state.next_turn, turn_number(record.turn) + 1);
        if (record.kind != "answer") {
            continue;
        }
        const std::string& model = record.extra["model"].as_string();
        if (model.empty()) {
            continue;
        }
        state.last_model = model;
        state.context_tokens = record.extra["usage"]["input"].as_integer(state.context_tokens);
        const std::string& backend = record.extra["backend_session"].as_string();
        if (!backend.empty()) {
            state.backend_sessions[model] = backend;
        }
    }
}

}  // namespace

Result<> SessionStore::load() {
    auto names = list_session_names(os_, folder_.get());
    if (!names) {
        return names.error();
    }
    auto state = load_state(!names->empty());
    if (!state) {
        return state.error();
    }
    if (*state && !(*state)->session.empty()) {
        auto name = SessionName::parse((*state)->session);
        if (!name || std::find(names->begin(), names->end(), *name) == names->end()) {
            const std::string why =
                "state.json names the session " + (*state)->session + ", which has no file";
            if (auto aside = set_aside_state(why); !aside) {
                return aside;
            }
            state->reset();
        }
    }
    if (*state) {
        state_ = std::move(**state);
        if (auto adopted = adopt_newer(*names); !adopted) {
            return adopted;
        }
    } else {
        auto built = rebuild(*names);
        if (!built) {
            return built.error();
        }
        rebuilt_ = !names->empty();
        if (auto saved = save_state(std::move(*built)); !saved) {
            return saved;
        }
    }
    return load_session();
}

Result<std::optional<DeskState>> SessionStore::load_state(bool any_session) {
    auto text = read_file(os_, folder_.get(), "state.json", kMaxStateBytes);
    if (!text) {
        if (text.error().code() != Errc::not_found) {
            return text.error();
        }
        if (any_session) {
            repairs_.sentences.emplace_back(
                "state.json was missing and was rebuilt from the session files");
        }
        return std::optional<DeskState>();
    }
    std::string why = "is empty";
    if (!text->empty()) {
        auto json = Json::parse(*text);
        auto state = json ? DeskState::from_json(*json) : Result<DeskState>(json.error());
        if (state) {
            return std::optional<DeskState>(std::move(*state));
        }
        if (state.error().code() == Errc::unsupported) {
            return state.error();  // a newer program wrote it: not ours to set aside
        }
        why = "is damaged: " + state.error().message();
    }
    if (auto aside = set_aside_state("state.json " + why); !aside) {
        return aside.error();
    }
    return std::optional<DeskState>();
}

Result<> SessionStore::set_aside_state(const std::string& why) {
    auto name = free_name(os_, folder_.get(), "state.json.bad-");
    if (!name) {
        return name.error();
    }
    if (auto moved = os_.rename_new(folder_.get(), "state.json", *name); !moved) {
        return moved;
    }
    repairs_.sentences.push_back(why + "; moved to " + *name +
                                 " and rebuilt from the session files");
    return {};
}

Result<DeskState> SessionStore::rebuild(const std::vector<SessionName>& names) {
    DeskState state;
    if (names.empty()) {
        return state;
    }
    const SessionName& newest = names.back();
    auto lines = read_session_file(os_, folder_.get(), newest.file());
    if (!lines) {
        return lines.error();
    }
    take_from_answers(lines->records, state);
    state.session = newest.str();
    state.session_day = newest.day;
    auto closed = has_summary(newest.day, newest.str());
    if (!closed) {
        return closed.error();
    }
    if (*closed) {  // its rollover goes on with the step after the summary
        state.rollover = RolloverState{newest.day, newest.str(), true, false, false};
    }
    return state;
}

Result<> SessionStore::adopt_newer(const std::vector<SessionName>& names) {
    if (names.empty()) {
        return {};
    }
    const SessionName& newest = names.back();
    const auto current = SessionName::parse(state_.session);
    const auto closed = SessionName::parse(state_.rollover ? state_.rollover->session : "");
    // An older day's name does not come back: only a file newer than all the state knows was made
    // by a cut open_session().
    const bool known = (current && !(*current < newest)) || (closed && !(*closed < newest));
    if (known) {
        return {};
    }
    DeskState state = state_;
    state.session = newest.str();
    state.session_day = newest.day;
    if (state.rollover && state.rollover->folded) {
        state.rollover->opened = true;
    }
    repairs_.sentences.push_back("session " + newest.str() +
                                 " was made but not named in state.json: taken up");
    return save_state(std::move(state));
}

Result<> SessionStore::load_session() {
    if (state_.session.empty()) {
        return {};
    }
    const std::string name = state_.session + ".jsonl";
    auto lines = read_session_file(os_, folder_.get(), name);
    if (!lines) {
        return lines.error();
    }
    auto file = os_.open_beneath(folder_.get(), name, OpenMode::append);
    if (!file) {
        return file.error();
    }
    file_ = std::move(*file);
    file_bytes_ = lines->bytes;
    conversation_ = std::move(lines->records);
    held_bytes_ = 0;
    for (const SessionRecord& record : conversation_) {
        held_bytes_ += weight_of(record);
    }
    next_seq_ = lines->lines + 1;
    if (!conversation_.empty()) {
        next_seq_ = std::max(next_seq_, conversation_.back().seq + 1);
    }
    if (lines->bad_lines > 0) {
        repairs_.sentences.push_back("session " + state_.session + ": " +
                                     std::to_string(lines->bad_lines) +
                                     " unreadable line(s) kept and left out");
    }
    if (lines->skipped > 0) {
        repairs_.sentences.push_back("session " + state_.session + ": of its " +
                                     std::to_string(lines->lines) + " lines the oldest " +
                                     std::to_string(lines->skipped) +
                                     " are left out of the conversation");
    }
    if (auto mended = mend_tail(*lines); !mended) {
        return mended;
    }
    take_from_answers(conversation_, state_);
    return {};
}

Result<> SessionStore::mend_tail(const SessionLines& lines) {
    if (lines.torn.empty()) {
        return {};
    }
    if (auto record = SessionRecord::from_line(lines.torn)) {
        if (auto added = os_.write_all(file_.get(), "\n"); !added) {
            return added;
        }
        file_bytes_ += lines.torn.size() + 1;
        next_seq_ = std::max(next_seq_, record->seq) + 1;
        conversation_.push_back(std::move(*record));
        repairs_.sentences.push_back("session " + state_.session +
                                     ": its last line got its newline");
        return os_.data_sync(file_.get());
    }
    auto name = free_name(os_, folder_.get(), state_.session + ".torn-");
    if (!name) {
        return name.error();
    }
    if (auto kept = write_file_durably(os_, folder_.get(), *name, lines.torn); !kept) {
        return kept;
    }
    if (auto cut = os_.truncate(file_.get(), lines.bytes); !cut) {
        return cut;
    }
    repairs_.sentences.push_back("session " + state_.session + ": a torn last line of " +
                                 std::to_string(lines.torn.size()) + " bytes was set aside as " +
                                 *name);
    return os_.full_sync(file_.get());
}

}  // namespace daybook
