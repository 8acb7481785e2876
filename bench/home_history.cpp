#include "bench/home_history.hpp"

#include <fstream>

#include "bench/bench_desk.hpp"
#include "bench/counting_os.hpp"
#include "host/journal/journal.hpp"
#include "host/session/session_store.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook::bench {
namespace {

SessionRecord line(const std::string& turn, std::string kind, Source source, std::string text) {
    SessionRecord record;
    record.turn = turn;
    record.kind = std::move(kind);
    record.source = source;
    record.text = std::move(text);
    return record;
}

/// A message that led to a note, and what was said.
std::vector<SessionRecord> records_of(const std::string& turn, const DeskDate& day) {
    const std::string call = turn + "-call";
    std::vector<SessionRecord> records;
    records.push_back(
        line(turn, "trigger", Source::owner, "note: gap filled before noon, " + day.str()));
    records.back().extra.set("trigger", "trigger-" + turn).set("kind", "message");
    records.push_back(
        line(turn, "tool_call", Source::desk, R"({"text":"gap filled before noon"})"));
    records.back().extra.set("call", call).set("tool", "add_note");
    records.push_back(
        line(turn, "tool_result", Source::tool, R"({"checkpoint":"c-1","bytes":180})"));
    records.back().extra.set("call", call).set("tool", "add_note").set("status", "ok");
    records.push_back(line(turn, "answer", Source::desk, "I have noted it for " + day.str() + "."));
    records.back().extra.set("model", "clerk").set("usage", Json::object());
    return records;
}

JournalEntry note_entry(const std::string& session, const std::string& turn, const DeskDate& day) {
    JournalEntry entry;
    entry.type = "note_written";
    entry.session = session;
    entry.turn = turn;
    entry.data.set("path", "notes/" + day.str() + ".md").set("op", "append").set("bytes", 180);
    entry.data.set("checkpoint", "c-1").set("reason", "add_note").set("tool", "add_note");
    return entry;
}

class DeskPast {
  public:
    DeskPast(SessionStore& sessions, Journal& journal) : sessions_(sessions), journal_(journal) {}

    Result<> day(DeskDate day, int exchanges) {
        auto session = sessions_.open_session(day, "a new day", Json::object());
        if (!session) {
            return session.error();
        }
        std::vector<JournalEntry> entries;
        for (int i = 0; i < exchanges; ++i) {
            const std::string turn = "t-" + std::to_string(next_turn_++);
            if (auto said = sessions_.append(records_of(turn, day), false); !said) {
                return said;
            }
            entries.push_back(note_entry(*session, turn, day));
        }
        if (auto written = journal_.append_all(std::move(entries)); !written) {
            return written.error();
        }
        return sessions_.write_summary(day, *session, "The gap was filled before noon.");
    }

    Result<> end(DeskDate today) {
        DeskState state = sessions_.state();
        state.next_turn = next_turn_;
        state.settled_day = today.str();
        return sessions_.save_state(std::move(state));
    }

  private:
    SessionStore& sessions_;
    Journal& journal_;
    std::uint64_t next_turn_ = 1;
};

Result<> make_past(const std::filesystem::path& state,
                   const std::string& desk,
                   const PastSize& size,
                   Timestamp now) {
    LinuxOs real;
    CountingOs os(real, CountingOs::Flushes::leave_out);
    const DeskDate today{std::chrono::floor<std::chrono::days>(now)};
    ReplayedClock clock(now - std::chrono::days(size.days - 1));
    auto dir = os.open_root(state);
    if (!dir) {
        return dir.error();
    }
    auto sessions = SessionStore::open(os, clock, dir->get(), "sessions/" + desk);
    if (!sessions) {
        return sessions.error();
    }
    auto journal = Journal::open(os, clock, dir->get(), "journal/" + desk, desk, std::nullopt);
    if (!journal) {
        return journal.error();
    }
    DeskPast past(**sessions, **journal);
    for (int ago = size.days - 1; ago >= 0; --ago) {
        if (auto moved = clock.advance_to(now - std::chrono::days(ago)); !moved) {
            return moved;
        }
        if (auto done = past.day(today.plus_days(-ago), size.exchanges_a_day); !done) {
            return done;
        }
    }
    return past.end(today);
}

std::string config_text(const std::vector<std::string>& desks) {
    std::string text = "[model.clerk]\nplugin = \"clerk\"\n";
    for (const std::string& desk : desks) {
        text += "\n[desk." + desk +
                "]\ncalendar = \"always\"\nzone = \"UTC\"\nmodels = [\"clerk\"]\n"
                "plugins = [\"memory\"]\n";
    }
    return text;
}

}  // namespace

std::vector<std::string> desk_names(int desks) {
    std::vector<std::string> names = {"main"};
    for (int i = 1; i < desks; ++i) {
        names.push_back("desk-" + std::to_string(i));
    }
    return names;
}

Result<> make_home(const std::filesystem::path& home, const PastSize& size) {
    const Timestamp now = SystemClock().now();
    const DeskDate today{std::chrono::floor<std::chrono::days>(now)};
    const std::filesystem::path state = home / "state";
    const auto desks = desk_names(size.desks);
    std::filesystem::create_directories(home);
    std::ofstream(home / "daybook.toml") << config_text(desks);
    if (size.days == 0) {
        return {};
    }
    LinuxOs os;
    if (auto made = StateFolder::open(os, state); !made) {
        return made.error();
    }
    for (const std::string& desk : desks) {
        fill_desk(state / "workspace" / desk, size.days, today);
        if (auto made = make_past(state, desk, size, now); !made) {
            return made.error().during("past of desk " + desk);
        }
    }
    return {};
}

}  // namespace daybook::bench
