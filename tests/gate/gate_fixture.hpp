// A desk with its store, journal and gate, all through one Os that a test may hand in.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "host/gate/write_gate.hpp"
#include "host/journal/journal_reader.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

namespace daybook::test {

inline constexpr std::string_view kNotes =
    "notes/2025-10-19.md";  // the day of Desk's clock, in UTC

inline DeskDate day_of_desk() {
    return *DeskDate::parse("2025-10-19");
}

struct GatedDesk : Desk {
    UniqueFd root;
    std::unique_ptr<Journal> journal;
    std::unique_ptr<Ledger> ledger;
    std::unique_ptr<WriteGate> gate;
    TurnAllowance allowance = TurnAllowance::of(TurnKind::owner_call, day_of_desk());
    ShownFiles shown;
    WriteContext context;

    explicit GatedDesk(CheckpointForm form_in = form_of_tests()) : Desk(form_in) {
        allowance.notes_left = -1;
        context.session = "2025-10-19-1";
        context.turn = "t-1";
        context.tool = "write_file";
        context.call = "7";
        context.plugin = "memory";
    }

    /// As the host does it at start.
    Result<> start() { return start_with(os); }
    Result<> start_with(Os& through) {
        stop();
        if (auto opened = open_with(through); !opened) {
            return opened;
        }
        auto state = os.open_root(home.path());
        auto opened =
            Journal::open(through, clock, state->get(), "journal/main", "main", std::nullopt);
        if (!opened) {
            return opened.error();
        }
        journal = std::move(*opened);
        root = std::move(*state);
        auto kept = Ledger::open(through, clock, root.get(), "ledger/main");
        if (!kept) {
            return kept.error();
        }
        ledger = std::make_unique<Ledger>(std::move(*kept));
        gate = std::make_unique<WriteGate>(
            through, clock, dir.get(), "main", *store, *journal, places(), ledger.get());
        return gate->recover();
    }
    [[nodiscard]] DeskPlaces places() const {
        return {root.get(), "workspace/main", "workspace/.checkpoints/main.git"};
    }
    void stop() {
        gate.reset();
        journal.reset();
        store.reset();
    }

    /// Runs on stores of a process of its own, which is killed at the latest when `work` returns.
    void die_in(const std::function<void()>& work) {
        stop();
        const pid_t child = ::fork();
        if (child == 0) {
            if (start()) {
                work();
            }
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFSIGNALED(status)) {
            throw std::runtime_error("the process was not killed");
        }
    }

    static Leash leash_on(const DeskPath& path, unsigned operations = kAppend | kReplace | kEdit) {
        Leash leash;
        leash.desk = "main";
        leash.tool = "write_file";
        leash.groups = kDeskFiles;
        leash.file = FileGrant{path, operations};
        leash.bytes_left = 1 << 20;
        leash.writes_left = 1000;
        leash.calls_left = 4;
        leash.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
        return leash;
    }

    Result<WriteReceipt> ask(const WriteRequest& request) {
        Leash leash = leash_on(request.path);
        return ask_under(leash, request);
    }
    Result<WriteReceipt> ask_under(Leash& leash, const WriteRequest& request) {
        context.leash = leash.to_json(clock.steady());
        return gate->write(leash, allowance, shown, context, request);
    }
    Result<WriteReceipt> append(std::string_view name, std::string_view text) {
        WriteRequest request{path_of(std::string(name))};
        request.text = text;
        request.reason = "a test appends";
        return ask(request);
    }
    Result<WriteReceipt> replace(std::string_view name, std::string_view text) {
        WriteRequest request{path_of(std::string(name))};
        request.operation = kReplace;
        request.text = text;
        request.reason = "a test replaces";
        return ask(request);
    }
    Result<WriteReceipt> edit(std::string_view name, std::string_view from, std::string_view to) {
        WriteRequest request{path_of(std::string(name))};
        request.operation = kEdit;
        request.old_text = from;
        request.text = to;
        return ask(request);
    }

    [[nodiscard]] std::vector<JournalRecord> records(std::string_view type = "") const {
        std::vector<JournalRecord> found;
        const auto kept = home / "journal/main";
        for (const auto& file : std::filesystem::directory_iterator(kept)) {
            if (file.path().extension() != ".jsonl") {
                continue;
            }
            std::istringstream lines(home.read("journal/main/" + file.path().filename().string()));
            for (std::string line; std::getline(lines, line);) {
                auto record = JournalRecord::from_line(line);
                if (record && (type.empty() || record->entry.type == type)) {
                    found.push_back(std::move(*record));
                }
            }
        }
        return found;
    }
    [[nodiscard]] std::size_t temporaries() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            count += entry.path().filename().string().ends_with(".daybook~") ? 1U : 0U;
        }
        return count;
    }
};

}  // namespace daybook::test
