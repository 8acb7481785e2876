// A desk that is written to without end by a process that is stopped at any instant: what it
// promised, and whether that is true afterwards. For kills and for power cuts.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook::test {

/// A desk with store, journal and gate in any folder.
struct DiskDesk {
    explicit DiskDesk(std::filesystem::path root_in) : root(std::move(root_in)) {}

    /// As the host does it at start.
    Result<> start();
    void stop();
    [[nodiscard]] std::filesystem::path folder() const { return root / "workspace/main"; }
    [[nodiscard]] std::filesystem::path repository() const {
        return root / "workspace/.checkpoints/main.git";
    }
    /// The whole file; nullopt: there is none.
    [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
    /// "" when git finds no fault in the repository.
    [[nodiscard]] std::string fsck() const;
    Result<WriteReceipt> write(const std::string& name,
                               FileOperation operation,
                               const std::string& text);

    std::filesystem::path root;
    LinuxOs os;
    SystemClock clock;
    UniqueFd state, dir;
    std::unique_ptr<CheckpointStore> store;
    std::unique_ptr<Journal> journal;
    std::unique_ptr<WriteGate> gate;
};

/// What a writer has promised, and what it was about to do.
class Promises {
  public:
    /// Takes in what a writer said.
    void hear(const std::string& output);
    /// Compares with what is on disk after a start; "" when all is kept. What stands there now is
    /// what the next look compares with.
    std::string check(DiskDesk& desk);

    [[nodiscard]] std::size_t writes() const { return writes_; }

  private:
    struct Write {
        std::string file;
        std::string sha256;
    };
    void begin(std::uint64_t op, const std::string& kind, const std::string& file);
    void done(std::uint64_t op, const std::string& checkpoint);
    [[nodiscard]] std::string check_notes(const DiskDesk& desk);
    [[nodiscard]] std::string check_files(const DiskDesk& desk);
    [[nodiscard]] std::string check_checkpoints(const DiskDesk& desk) const;
    [[nodiscard]] std::string check_lines(const DiskDesk& desk) const;

    using Content = std::optional<std::string>;
    std::map<std::string, std::set<Content>> files_;  ///< what each may hold
    std::set<std::string> notes_, notes_maybe_;
    std::map<std::string, Write> checkpoints_;  ///< of acknowledged writes, since the last look
    std::uint64_t newest_ = 0;                  ///< acknowledged checkpoint
    std::size_t writes_ = 0;
    struct Running {
        std::string kind, file;
        std::string content;
    };
    std::map<std::uint64_t, Running> running_;
};

/// A process that opens the desk at `root` and writes until it is stopped.
class Writer {
  public:
    Writer(const std::filesystem::path& root, std::uint64_t seed, std::uint64_t first_op);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    Writer(Writer&&) = delete;
    Writer& operator=(Writer&&) = delete;

    /// Until the desk is open, or a time has passed.
    void wait_started(std::chrono::milliseconds longest);
    /// Takes in what it says meanwhile.
    void listen(std::chrono::microseconds how_long);
    void freeze() const;
    void kill();
    /// All that it said; "failed …" when something went wrong that no cut explains.
    [[nodiscard]] const std::string& output() const { return output_; }

  private:
    bool read_some(int timeout_ms);

    pid_t pid_ = -1;
    int pipe_ = -1;
    std::string output_;
};

/// What operation `op` appends or writes; tells from its own bytes whether it is whole.
[[nodiscard]] std::string note_of(std::uint64_t op);
[[nodiscard]] std::string content_of(std::uint64_t op);

/// Numbers of operations that no two writers share.
inline constexpr std::uint64_t kOpsOfAWriter = 1'000'000;

}  // namespace daybook::test
