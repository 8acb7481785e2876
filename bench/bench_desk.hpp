// A desk with files of its own and everything a write goes through, as the host sets it up.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "bench/counting_os.hpp"
#include "host/gate/write_gate.hpp"

namespace daybook::bench {

/// 2 KB of memory, different for each number.
[[nodiscard]] std::string memory_text(int number);

/// Fills a desk's folder with `files` own files of 2 KB: Memory.md, a skill, memory/ and notes/.
/// Throws what the filesystem library throws.
void fill_desk(const std::filesystem::path& folder, int files, DeskDate today);

class BenchDesk {
  public:
    /// `home` is an empty folder of the desk's own.
    static Result<std::unique_ptr<BenchDesk>> open(const std::filesystem::path& home, int files);

    /// Through the whole gate. Errors: the gate's.
    Result<> append_note(int number);
    Result<> replace_memory(int number);
    /// The checkpoint of a write to Memory.md, without the write.
    Result<Checkpoint> take_checkpoint(int number);
    /// Writes Memory.md as a plain program would; the rest of the write is still to be recorded.
    Result<> put_memory(int number);
    Result<> record_memory(const Checkpoint& checkpoint, int number);
    /// Whether the newest commit holds what is on the disk. Errors: corrupt.
    Result<> check();

    /// Flushes that went through the Os.
    [[nodiscard]] std::uint64_t flushes() const noexcept { return os_.flushes(); }

  private:
    BenchDesk(std::filesystem::path folder, DeskPath notes, DeskPath memory, DeskDate today);
    Result<> write(WriteRequest request);

    LinuxOs real_;
    CountingOs os_{real_};
    SystemClock clock_;
    std::filesystem::path folder_;
    DeskPath notes_, memory_;
    TurnAllowance allowance_;
    ShownFiles shown_;
    UniqueFd dir_;
    std::unique_ptr<CheckpointStore> store_;
    std::unique_ptr<Journal> journal_;
    std::unique_ptr<WriteGate> gate_;
};

}  // namespace daybook::bench
