// What a durable checkpoint costs, in both forms, against one plain durable write of 2 KB and
// against the sequence of git commands that peers run; and what ten thousand of them take up.
//
//   checkpoint [--files N] [--rounds N] [--json]     a row a contender, interleaved in one run
//   checkpoint --grow N [--keep FOLDER] [--json]     a growing desk of N writes
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench_desk.hpp"
#include "bench/git_peer.hpp"
#include "bench/parts.hpp"
#include "host/checkpoint/folder_tree.hpp"
#include "host/checkpoint/stored_tree.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/file_swap.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::bench {
namespace {

struct Wish {
    int files = 100;
    int rounds = 21;
    int grow = 0;
    std::string keep;  ///< a copy of the repository that has grown goes there
    bool as_json = false;
};

/// A desk with a store and nothing else of the host.
struct StoreDesk {
    static Result<std::unique_ptr<StoreDesk>> open(const std::filesystem::path& home,
                                                   int files,
                                                   CheckpointForm form) {
        auto desk = std::make_unique<StoreDesk>();
        desk->folder = home / "workspace/main";
        desk->repository = home / "workspace/.checkpoints/main.git";
        fill_desk(desk->folder, files, DeskDate{std::chrono::sys_days{std::chrono::days{20000}}});
        auto dir = desk->os.open_root(desk->folder);
        if (!dir) {
            return dir.error();
        }
        desk->dir = std::move(*dir);
        desk->swap = std::make_unique<FileSwap>(desk->os, desk->dir.get());
        desk->swap->set_folder_sync(form == CheckpointForm::plain);
        auto opened = desk->reopen(form);
        return opened ? Result<std::unique_ptr<StoreDesk>>(std::move(desk)) : opened.error();
    }
    Result<> reopen(CheckpointForm form) {
        store.reset();
        auto opened = CheckpointStore::open(os, clock, dir.get(), repository, "main", form);
        if (!opened) {
            return opened.error();
        }
        store = std::move(*opened);
        return {};
    }
    Result<Checkpoint> take(const DeskPath& path, const std::string& now, const std::string& next) {
        return store->take(path, now.empty() ? "" : sha256_hex(now), sha256_hex(next), {}, next);
    }
    Result<> put(const DeskPath& path, const std::string& now, const std::string& next) {
        return swap->replace(path, now.empty() ? "" : sha256_hex(now), next);
    }

    LinuxOs os;
    SystemClock clock;
    std::filesystem::path folder, repository;
    UniqueFd dir;
    std::unique_ptr<CheckpointStore> store;
    std::unique_ptr<FileSwap> swap;
    std::string memory = memory_text(0);
};

Result<double> floor_write(const std::filesystem::path& folder, const std::string& text) {
    const Stopwatch watch;
    const std::string name = (folder / "plain.md").string();
    const int fd = ::open((name + "~").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const bool is_written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(fd) == 0;
    ::close(fd);
    const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_done =
        is_written && ::rename((name + "~").c_str(), name.c_str()) == 0 && ::fsync(dir) == 0;
    ::close(dir);
    return is_done ? Result<double>(watch.milliseconds())
                   : Result<double>(Error(Errc::io, "plain durable write"));
}

/// The checkpoint alone, or with the write and the commit of what it left, timed; the rest of the
/// write follows untimed.
Result<double> checkpoint_once(StoreDesk& desk, const DeskPath& path, int number, bool with_write) {
    const std::string next = memory_text(number);
    const Stopwatch watch;
    auto taken = desk.take(path, desk.memory, next);
    double spent = watch.milliseconds();
    auto done = taken ? desk.put(path, desk.memory, next) : Result<>(taken.error());
    if (done) {
        done = desk.store->record_written(*taken, path, next);
    }
    spent = with_write ? watch.milliseconds() : spent;
    desk.memory = next;
    return done ? Result<double>(spent) : Result<double>(done.error());
}

std::vector<Contender> contenders_of(const std::filesystem::path& home,
                                     StoreDesk& plain,
                                     StoreDesk& logged,
                                     GitPeer& git,
                                     int& number) {
    const DeskPath path = *DeskPath::parse("Memory.md");
    return {
        {"floor", [&, path] { return floor_write(home, memory_text(++number)); }, {}},
        {"plain/take", [&, path] { return checkpoint_once(plain, path, ++number, false); }, {}},
        {"journalled/take",
         [&, path] { return checkpoint_once(logged, path, ++number, false); },
         {}},
        {"journalled/take+write",
         [&, path] { return checkpoint_once(logged, path, ++number, true); },
         {}},
        {"journalled/find_edits",
         [&, path]() -> Result<double> {
             const Stopwatch watch;
             auto found = logged.store->record_owner_edits();
             return found ? Result<double>(watch.milliseconds()) : Result<double>(found.error());
         },
         {}},
        {"git sequence",
         [&, path]() -> Result<double> {
             std::ofstream(home / "git/desk/Memory.md", std::ios::trunc) << memory_text(++number);
             const UniqueFd disk(::open(home.c_str(), O_RDONLY | O_CLOEXEC));
             ::syncfs(disk.get());
             const Stopwatch watch;
             auto done = git.sequence();
             return done ? Result<double>(watch.milliseconds()) : Result<double>(done.error());
         },
         {}}};
}

/// Of the desk's own files, as git would name it: without `.daybook/`.
Result<std::string> tree_of_newest(const StoreDesk& desk) {
    auto newest = desk.store->take_manual("what all of them hold");
    auto stored = newest ? desk.store->tree(*newest) : Result<StoredTree>(newest.error());
    if (!stored) {
        return stored.error();
    }
    FolderTree tree;
    for (const auto& [path, file] : stored->files) {
        tree.set(path, file.file);
    }
    GitId root;
    tree.encode([&root](const std::string& bytes) {
        root = GitObjects::id_of(GitType::tree, bytes);  // the root comes last
    });
    return root.hex();
}

/// All contenders were given the same files: they must have stored the same tree.
Result<> compare_trees(const std::filesystem::path& home,
                       StoreDesk& plain,
                       StoreDesk& logged,
                       GitPeer& git) {
    const DeskPath path = *DeskPath::parse("Memory.md");
    constexpr int kLast = 7;
    for (StoreDesk* desk : {&plain, &logged}) {
        if (auto done = checkpoint_once(*desk, path, kLast, true); !done) {
            return done.error();
        }
    }
    std::ofstream(home / "git/desk/Memory.md", std::ios::trunc) << memory_text(kLast);
    auto done = git.sequence();
    auto theirs = done ? git.tree() : Result<std::string>(done.error());
    if (!theirs) {
        return theirs.error();
    }
    for (const StoreDesk* desk : {&plain, &logged}) {
        auto ours = tree_of_newest(*desk);
        if (!ours || *ours != *theirs) {
            return ours ? Error(Errc::internal, "trees differ: " + *ours + ", git " + *theirs)
                        : ours.error();
        }
    }
    return {};
}

Result<> compare(const Wish& wish, Report& report) {
    const test::TempFolder home;
    auto plain = StoreDesk::open(home / "plain", wish.files, CheckpointForm::plain);
    auto logged = StoreDesk::open(home / "journalled", wish.files, CheckpointForm::journalled);
    if (!plain || !logged) {
        return (!plain ? plain : logged).error();
    }
    fill_desk(
        home / "git/desk", wish.files, DeskDate{std::chrono::sys_days{std::chrono::days{20000}}});
    auto git = GitPeer::open(home / "git/desk", home / "git/store");
    if (!git) {
        return git.error();
    }
    int number = 100000;
    std::vector<Contender> contenders = contenders_of(home.path(), **plain, **logged, *git, number);
    const UniqueFd disk(::open(home.path().c_str(), O_RDONLY | O_CLOEXEC));
    Result<> published;
    const auto settle = [&] {
        // What runs off the path is not measured with the next.
        published = published ? (*logged)->store->publish() : published;
        ::syncfs(disk.get());
    };
    if (auto done = interleave(contenders, wish.rounds, settle); !done || !published) {
        return done ? published : done;
    }
    if (auto same = compare_trees(home.path(), **plain, **logged, *git); !same) {
        return same;
    }
    const std::string size = "/" + std::to_string(wish.files);
    for (const Contender& contender : contenders) {
        report.row(contender.name + size, "ms", contender.samples, &contenders.front().samples);
    }
    const double ours = figures_of(contenders[2].samples).median;
    const double floor = figures_of(contenders[0].samples).median;
    report.row("ratio_to_floor" + size, "x", ours / floor);
    report.row("with_write_to_floor" + size, "x", figures_of(contenders[3].samples).median / floor);
    report.row("git_to_journalled" + size, "x", figures_of(contenders[5].samples).median / ours);
    return {};
}

struct Room {
    double bytes = 0;
    double allocated = 0;  ///< blocks, folders too
};

Room room_of(const std::filesystem::path& folder) {
    Room room;
    const auto add = [&room](const std::filesystem::path& path) {
        struct stat status = {};
        if (::lstat(path.c_str(), &status) == 0) {
            room.bytes += S_ISREG(status.st_mode) ? static_cast<double>(status.st_size) : 0;
            room.allocated += static_cast<double>(status.st_blocks) * 512;
        }
    };
    add(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        add(entry.path());
    }
    return room;
}

/// Nineteen of twenty writes append a note's line, one changes Memory.md; a new day every 200.
Result<> write_many(StoreDesk& desk, int from, int to, std::string& notes) {
    const DeskPath memory = *DeskPath::parse("Memory.md");
    for (int i = from; i < to; ++i) {
        if (i % 200 == 0) {
            notes.clear();
        }
        const DeskDate day{std::chrono::sys_days{std::chrono::days{20000 + i / 200}}};
        const bool is_note = i % 20 != 0;
        const DeskPath path = is_note ? *DeskPath::parse("notes/" + day.str() + ".md") : memory;
        const std::string now = is_note ? notes : desk.memory;
        const std::string line = "- " + sha256_hex(std::to_string(i)).substr(0, 40) + " held\n";
        const std::string next = is_note ? notes + line : memory_text(i);
        auto taken = desk.take(path, now, next);
        auto done = taken ? desk.put(path, now, next) : Result<>(taken.error());
        if (done) {
            done = desk.store->record_written(*taken, path, next);
        }
        if (!done) {
            return done;
        }
        (is_note ? notes : desk.memory) = next;
    }
    return desk.store->publish();
}

template <class Work>
Result<> time_row(Report& report, const std::string& name, int rounds, Work work) {
    Samples samples;
    for (int i = 0; i < rounds; ++i) {
        const Stopwatch watch;
        if (auto done = work(); !done) {
            return done.error();
        }
        samples.push_back(watch.milliseconds());
    }
    report.row(name, "ms", samples);
    return {};
}

/// At rest: the store closed, as it is after half a minute without work.
Result<> show_rest(StoreDesk& desk, Report& report, int count) {
    constexpr int kRounds = 11;
    const std::string size = "/" + std::to_string(count);
    desk.store.reset();
    const Room room = room_of(desk.repository);
    report.row(
        "grow/objects_each" + size, "bytes", room_of(desk.repository / "objects").bytes / count);
    report.row("grow/bytes_each" + size, "bytes", room.bytes / count);
    report.row("grow/allocated_each" + size, "bytes", room.allocated / count);
    return time_row(report, "grow/open" + size, kRounds, [&] {
        return desk.reopen(CheckpointForm::journalled);
    });
}

Result<> grow(const Wish& wish, Report& report) {
    const test::TempFolder home;
    auto opened = StoreDesk::open(home.path(), 2, CheckpointForm::journalled);
    if (!opened) {
        return opened.error();
    }
    StoreDesk& desk = **opened;
    const int few = std::min(100, wish.grow);
    std::string notes;
    Result<> done = write_many(desk, 0, few, notes);
    done = done ? show_rest(desk, report, few) : done;
    done = done ? write_many(desk, few, wish.grow, notes) : done;
    done = done ? show_rest(desk, report, wish.grow) : done;
    if (!done) {
        return done;
    }
    if (!wish.keep.empty()) {
        std::filesystem::copy(desk.repository, wish.keep, std::filesystem::copy_options::recursive);
    }
    const auto middle = static_cast<std::uint64_t>(wish.grow / 2);
    constexpr int kRounds = 11;
    const CheckpointStore& store = *desk.store;
    done = time_row(report, "grow/first_deep_page", 1, [&] { return store.list(50, middle); });
    done = done ? time_row(report, "grow/list_50", kRounds, [&] { return store.list(50); }) : done;
    done = done
               ? time_row(report, "grow/deep_page", kRounds, [&] { return store.list(50, middle); })
               : done;
    done = done ? time_row(report, "grow/find", kRounds, [&] { return store.find("c-12"); }) : done;
    return done;
}

int run(int count, char** arguments) {
    Wish wish;
    for (int i = 1; i < count; ++i) {
        const std::string word = arguments[i];
        const auto number = [&] { return i + 1 < count ? std::atoi(arguments[++i]) : 0; };
        if (word == "--files") {
            wish.files = number();
        } else if (word == "--rounds") {
            wish.rounds = number();
        } else if (word == "--grow") {
            wish.grow = number();
        } else if (word == "--keep" && i + 1 < count) {
            wish.keep = arguments[++i];
        } else if (word == "--json") {
            wish.as_json = true;
        } else {
            std::fprintf(stderr,
                         "checkpoint [--files N] [--rounds N] [--json]\n"
                         "checkpoint --grow N [--keep FOLDER] [--json]\n");
            return 2;
        }
    }
    Report report(wish.as_json);
    const Result<> done = wish.grow > 0 ? grow(wish, report) : compare(wish, report);
    if (!done) {
        std::fprintf(stderr, "%s\n", done.error().message().c_str());
        return 1;
    }
    return 0;
}

}  // namespace
}  // namespace daybook::bench

int main(int count, char** arguments) {
    return daybook::bench::run(count, arguments);
}
