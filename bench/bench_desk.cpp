#include "bench/bench_desk.hpp"

#include <fstream>
#include <sstream>

#include "host/format/sha256.hpp"

namespace daybook::bench {
namespace {

void put_file(const std::filesystem::path& file, std::string_view text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

std::string get_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

std::string memory_text(int number) {
    constexpr std::size_t kBytes = 2048;
    std::string text = "# Memory\n\n## Risk\n";
    for (int line = 1; text.size() < kBytes; ++line) {
        text += "- Lesson " + std::to_string(line) + " of writing " + std::to_string(number) +
                ": wait for the first close outside the opening range\n";
    }
    text.resize(kBytes - 1);
    return text + "\n";
}

void fill_desk(const std::filesystem::path& folder, int files, DeskDate today) {
    put_file(folder / "Memory.md", memory_text(0));
    put_file(folder / "skills/gaps/SKILL.md", memory_text(1));
    for (int i = 2; i < files; ++i) {
        const std::string name = i % 2 == 0 ? "memory/topic-" + std::to_string(i) + ".md"
                                            : "notes/" + today.plus_days(-i).str() + ".md";
        put_file(folder / name, memory_text(i));
    }
}

BenchDesk::BenchDesk(std::filesystem::path folder, DeskPath notes, DeskPath memory, DeskDate today)
    : folder_(std::move(folder)),
      notes_(std::move(notes)),
      memory_(std::move(memory)),
      allowance_(TurnAllowance::of(TurnKind::owner_call, today)) {
    allowance_.notes_left = -1;
}

Result<std::unique_ptr<BenchDesk>> BenchDesk::open(const std::filesystem::path& home, int files) {
    const DeskDate today{std::chrono::floor<std::chrono::days>(SystemClock().now())};
    auto notes = DeskPath::parse("notes/" + today.str() + ".md");
    auto memory = DeskPath::parse("Memory.md");
    if (!notes || !memory) {
        return (!notes ? notes : memory).error();
    }
    const std::filesystem::path folder = home / "workspace/main";
    fill_desk(folder, files, today);
    std::unique_ptr<BenchDesk> desk(new BenchDesk(folder, *notes, *memory, today));
    auto dir = desk->os_.open_root(folder);
    auto state = desk->os_.open_root(home);
    if (!dir || !state) {
        return (!dir ? dir : state).error();
    }
    desk->dir_ = std::move(*dir);
    auto store = CheckpointStore::open(desk->os_,
                                       desk->clock_,
                                       desk->dir_.get(),
                                       home / "workspace/.checkpoints/main.git",
                                       "main",
                                       CheckpointForm::journalled);
    if (!store) {
        return store.error();
    }
    desk->store_ = std::move(*store);
    auto journal =
        Journal::open(desk->os_, desk->clock_, state->get(), "journal/main", "main", std::nullopt);
    if (!journal) {
        return journal.error();
    }
    desk->journal_ = std::move(*journal);
    desk->gate_ = std::make_unique<WriteGate>(
        desk->os_, desk->clock_, desk->dir_.get(), "main", *desk->store_, *desk->journal_);
    if (auto recovered = desk->gate_->recover(); !recovered) {
        return recovered.error();
    }
    if (auto shown = desk->gate_->read(desk->shown_, desk->memory_); !shown) {
        return shown.error();
    }
    return desk;
}

Result<> BenchDesk::write(WriteRequest request) {
    Leash leash;
    leash.call = 7;
    leash.desk = "main";
    leash.plugin = "memory";
    leash.tool = "write_file";
    leash.turn = "t-1";
    leash.groups = kDeskFiles;
    leash.file = FileGrant{request.path, kAppend | kReplace};
    leash.bytes_left = 1 << 20;
    leash.writes_left = 1;
    leash.deadline = clock_.steady() + std::chrono::seconds(30);
    WriteContext context;
    context.session = "bench-1";
    context.turn = "t-1";
    context.tool = "write_file";
    context.call = "7";
    context.plugin = "memory";
    context.leash = leash.to_json(clock_.steady());
    auto receipt = gate_->write(leash, allowance_, shown_, context, request);
    return receipt ? Result<>() : Result<>(receipt.error());
}

Result<> BenchDesk::append_note(int number) {
    WriteRequest request{notes_};
    request.operation = kAppend;
    request.text = "- Round " + std::to_string(number) +
                   ": the gap was filled before noon; half the size was enough\n";
    request.reason = "a note";
    return write(std::move(request));
}

Result<> BenchDesk::replace_memory(int number) {
    WriteRequest request{memory_};
    request.operation = kReplace;
    request.text = memory_text(number);
    request.reason = "new memory";
    return write(std::move(request));
}

Result<Checkpoint> BenchDesk::take_checkpoint(int number) {
    CheckpointReason why;
    why.reason = "new memory";
    why.tool = "write_file";
    why.turn = "t-1";
    return store_->take(
        memory_, sha256_hex(get_file(folder_ / "Memory.md")), sha256_hex(memory_text(number)), why);
}

Result<> BenchDesk::put_memory(int number) {
    put_file(folder_ / "Memory.md", memory_text(number));
    return {};
}

Result<> BenchDesk::record_memory(const Checkpoint& checkpoint, int number) {
    return store_->record_written(checkpoint, memory_, memory_text(number));
}

Result<> BenchDesk::check() {
    for (const DeskPath& path : {notes_, memory_}) {
        if (store_->committed_sha256(path) != sha256_hex(get_file(folder_ / path.str()))) {
            return Error(Errc::corrupt, path.str() + ": the newest commit holds something else");
        }
    }
    return {};
}

}  // namespace daybook::bench
