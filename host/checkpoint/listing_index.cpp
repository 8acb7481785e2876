#include "host/checkpoint/listing_index.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "host/checkpoint/chain_reading.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kIdBytes = 20;
constexpr std::size_t kCheckBytes = 8;
constexpr std::size_t kBody = 2 * kIdBytes + kCheckBytes;

/// `entry.body` is the commit, the written commit (zeros: none), and a check over both and the
/// number. `state` has one row: the commit up to which it is filled, the highest checkpoint so far
/// and the one at the last commit of a write.
constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS entry(number INTEGER PRIMARY KEY, body BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS file(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS concern(file INTEGER NOT NULL, number INTEGER NOT NULL,"
    " PRIMARY KEY(file, number)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS state(version INTEGER NOT NULL, tip BLOB NOT NULL,"
    " last INTEGER NOT NULL, settled INTEGER NOT NULL);";

using Place = CheckpointPlace;

/// Of damage, not of malice.
std::uint64_t check_of(std::uint64_t number, std::string_view bytes) {
    std::uint64_t check = 0xCBF29CE484222325U ^ number;
    for (const char byte : bytes) {
        check = (check ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
    }
    return check;
}

std::string_view bytes_of(const GitId& id) {
    return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

std::string body_of(const Place& place) {
    std::string body(bytes_of(place.commit));
    body += bytes_of(place.written.value_or(GitId{}));
    const std::uint64_t check = check_of(place.number, body);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        body += static_cast<char>((check >> shift) & 0xFFU);
    }
    return body;
}

Error damaged(const std::string& what) {
    return Error(Errc::corrupt, "listing index: " + what);
}

Result<Place> place_of(std::int64_t number, std::string_view body) {
    Place place;
    place.number = static_cast<std::uint64_t>(number);
    if (body.size() == kBody && number > 0) {
        GitId written;
        std::memcpy(place.commit.bytes.data(), body.data(), kIdBytes);
        std::memcpy(written.bytes.data(), body.data() + kIdBytes, kIdBytes);
        if (written != GitId{}) {
            place.written = written;
        }
        if (body_of(place) == body) {
            return place;
        }
    }
    return damaged("the entry of c-" + std::to_string(number) + " is damaged");
}

/// One statement over many rows.
Result<> run_once(SqliteStatement& statement) {
    const auto done = statement.step();
    statement.reset();
    return done ? Result<>() : Result<>(done.error());
}

/// The index while it is open.
class OpenIndex {
  public:
    explicit OpenIndex(SqliteDatabase& database) : database_(database) {}

    /// nullopt: it is empty. Errors: corrupt (of another version too).
    Result<std::optional<ChainState>> state() {
        auto row = database_.prepare("SELECT version, tip, last, settled FROM state");
        auto found = row ? row->step() : Result<bool>(row.error());
        if (!found) {
            return found.error();
        }
        if (!*found) {
            return std::optional<ChainState>();
        }
        const std::string tip(row->bytes(1));
        if (row->integer(0) != kVersion || tip.size() != kIdBytes) {
            return damaged("of version " + std::to_string(row->integer(0)));
        }
        ChainState state;
        std::memcpy(state.tip.bytes.data(), tip.data(), kIdBytes);
        state.last = static_cast<std::uint64_t>(row->integer(2));
        state.settled = static_cast<std::uint64_t>(row->integer(3));
        return std::optional<ChainState>(state);
    }

    /// `*of_commits`: it is they that cannot be read, or have no order.
    Result<> catch_up(const GitObjects& objects, const GitId& newest, bool* of_commits) {
        auto known = state();
        if (!known) {
            return known.error();
        }
        ChainState from = known->value_or(ChainState{});
        if (from.tip == newest) {
            return {};
        }
        bool meets = false;
        auto links = links_since(objects, newest, from.tip, &meets);
        *of_commits = true;
        if (!links) {
            return links.error();
        }
        ChainReading reading(meets ? from : ChainState{});
        for (auto link = links->rbegin(); link != links->rend(); ++link) {
            if (auto added = reading.add(*link); !added) {
                return added;
            }
        }
        *of_commits = false;
        auto all = SqliteTransaction::begin(database_);
        Result<> done = all ? Result<>() : Result<>(all.error());
        if (done && !meets) {
            done = database_.run("DELETE FROM entry; DELETE FROM file; DELETE FROM concern;");
        }
        for (const auto step : {&OpenIndex::add_entries,
                                &OpenIndex::add_writes,
                                &OpenIndex::add_files,
                                &OpenIndex::set_state}) {
            done = done ? (this->*step)(reading) : done;
        }
        return done ? all->commit() : done;
    }

    Result<std::vector<Place>> page(std::size_t limit,
                                    std::uint64_t before,
                                    std::string_view file) {
        auto rows = database_.prepare(
            file.empty() ? "SELECT number, body FROM entry WHERE number < :before"
                           " ORDER BY number DESC LIMIT :limit"
                         : "SELECT entry.number, body FROM concern JOIN entry USING(number)"
                           " WHERE concern.file = (SELECT id FROM file WHERE path = :path)"
                           " AND concern.number < :before ORDER BY concern.number DESC LIMIT"
                           " :limit");
        if (!rows) {
            return rows.error();
        }
        rows->bind(
            ":before",
            static_cast<std::int64_t>(before == 0 ? ChainReading::kMaxNumber
                                                  : std::min(before, ChainReading::kMaxNumber)));
        rows->bind(
            ":limit",
            static_cast<std::int64_t>(std::min<std::uint64_t>(limit, ChainReading::kMaxNumber)));
        if (!file.empty()) {
            rows->bind(":path", file);
        }
        std::vector<Place> places;
        while (true) {
            auto row = rows->step();
            if (!row) {
                return row.error();
            }
            if (!*row) {
                return places;
            }
            auto place = place_of(rows->integer(0), rows->bytes(1));
            if (!place) {
                return place.error();
            }
            places.push_back(std::move(*place));
        }
    }

    Result<std::vector<Place>> starting_with(std::string_view digits) {
        auto rows = database_.prepare("SELECT number, body FROM entry ORDER BY number DESC");
        if (!rows) {
            return rows.error();
        }
        std::vector<Place> places;
        while (places.size() < 2) {
            auto row = rows->step();
            if (!row) {
                return row.error();
            }
            if (!*row) {
                break;
            }
            auto place = place_of(rows->integer(0), rows->bytes(1));
            if (!place) {
                return place.error();
            }
            if (place->commit.hex().starts_with(digits) ||
                (place->written && place->written->hex().starts_with(digits))) {
                places.push_back(std::move(*place));
            }
        }
        return places;
    }

    /// By path: the numbers, rising.
    Result<std::map<std::string, std::vector<std::uint64_t>>> files() {
        auto rows = database_.prepare(
            "SELECT path, number FROM concern JOIN file ON file.id = concern.file"
            " ORDER BY path, number");
        if (!rows) {
            return rows.error();
        }
        std::map<std::string, std::vector<std::uint64_t>> found;
        while (true) {
            auto row = rows->step();
            if (!row) {
                return row.error();
            }
            if (!*row) {
                return found;
            }
            found[std::string(rows->bytes(0))].push_back(
                static_cast<std::uint64_t>(rows->integer(1)));
        }
    }

  private:
    Result<> add_entries(const ChainReading& reading) {
        auto insert = database_.prepare("INSERT INTO entry VALUES(:number, :body)");
        if (!insert) {
            return insert.error();
        }
        for (const Place& place : reading.places()) {
            const std::string body = body_of(place);
            insert->bind(":number", static_cast<std::int64_t>(place.number));
            insert->bind(":body", body);
            if (auto done = run_once(*insert); !done) {
                return done;
            }
        }
        return {};
    }

    /// Of checkpoints that were in it before.
    Result<> add_writes(const ChainReading& reading) {
        auto update = database_.prepare("UPDATE entry SET body = :body WHERE number = :number");
        if (!update) {
            return update.error();
        }
        for (const auto& [number, commit] : reading.earlier_writes()) {
            auto there = page(1, number + 1, "");
            if (!there) {
                return there.error();
            }
            if (there->empty() || there->front().number != number) {
                continue;  // a commit made by hand that names no checkpoint
            }
            Place whole = there->front();
            whole.written = commit;
            const std::string body = body_of(whole);
            update->bind(":number", static_cast<std::int64_t>(number));
            update->bind(":body", body);
            if (auto done = run_once(*update); !done) {
                return done;
            }
        }
        return {};
    }

    Result<> add_files(const ChainReading& reading) {
        auto name = database_.prepare("INSERT OR IGNORE INTO file(path) VALUES(:path)");
        auto insert = database_.prepare(
            "INSERT OR IGNORE INTO concern VALUES((SELECT id FROM file WHERE path = :path),"
            " :number)");
        if (!name || !insert) {
            return (!name ? name : insert).error();
        }
        for (const auto& [path, numbers] : reading.files()) {
            name->bind(":path", path);
            if (auto done = run_once(*name); !done) {
                return done;
            }
            for (const std::uint64_t number : numbers) {
                insert->bind(":path", path);
                insert->bind(":number", static_cast<std::int64_t>(number));
                if (auto done = run_once(*insert); !done) {
                    return done;
                }
            }
        }
        return {};
    }

    Result<> set_state(const ChainReading& reading) {
        if (auto gone = database_.run("DELETE FROM state"); !gone) {
            return gone;
        }
        auto insert =
            database_.prepare("INSERT INTO state VALUES(:version, :tip, :last, :settled)");
        if (!insert) {
            return insert.error();
        }
        const ChainState& state = reading.state();
        insert->bind(":version", kVersion);
        insert->bind(":tip", bytes_of(state.tip));
        insert->bind(":last", static_cast<std::int64_t>(state.last));
        insert->bind(":settled", static_cast<std::int64_t>(state.settled));
        return run_once(*insert);
    }

    SqliteDatabase& database_;
};

Result<SqliteDatabase> open_index(const std::filesystem::path& folder) {
    auto database = SqliteDatabase::open(folder / std::string(ListingIndex::kName),
                                         SqliteDatabase::Syncs::never,
                                         SqliteDatabase::LogFile::removed);
    if (database) {
        if (auto made = database->run(kSchema); !made) {
            return made.error();
        }
    }
    return database;
}

}  // namespace

Result<> ListingIndex::drop_locked() {
    for (const std::string ending : {"-wal", "-shm", "-journal", ""}) {
        const auto gone = os_.remove(folder_fd_, std::string(kName) + ending);
        if (!gone && gone.error().code() != Errc::not_found) {
            return gone;
        }
    }
    return {};
}

Result<> ListingIndex::drop() {
    const std::lock_guard lock(mutex_);
    return drop_locked();
}

Result<> ListingIndex::ask(const GitObjects& objects,
                           const GitId& newest,
                           const std::function<Result<>(SqliteDatabase&)>& question) {
    const std::lock_guard lock(mutex_);
    for (bool is_again = false;; is_again = true) {
        bool of_commits = false;  // not mended by a new index
        Result<> done;
        {
            auto database = open_index(folder_);
            done = database ? Result<>() : Result<>(database.error());
            if (done) {
                done = OpenIndex(*database).catch_up(objects, newest, &of_commits);
            }
            if (done) {
                done = question(*database);
            }
        }
        const auto is = [&](Errc code) { return done.error().code() == code; };
        if (done || is_again || of_commits || is(Errc::busy) || is(Errc::full)) {
            return done;
        }
        if (auto gone = drop_locked(); !gone) {
            return gone;
        }
    }
}

Result<> ListingIndex::catch_up(const GitObjects& objects, const GitId& newest) {
    return ask(objects, newest, [](SqliteDatabase&) { return Result<>(); });
}

Result<std::vector<Place>> ListingIndex::page(const GitObjects& objects,
                                              const GitId& newest,
                                              std::size_t limit,
                                              std::uint64_t before,
                                              std::string_view file) {
    Result<std::vector<Place>> places = std::vector<Place>();
    auto done = ask(objects, newest, [&](SqliteDatabase& database) {
        places = OpenIndex(database).page(limit, before, file);
        return places ? Result<>() : Result<>(places.error());
    });
    return done ? std::move(places) : Result<std::vector<Place>>(done.error());
}

Result<std::vector<Place>> ListingIndex::starting_with(const GitObjects& objects,
                                                       const GitId& newest,
                                                       std::string_view digits) {
    Result<std::vector<Place>> places = std::vector<Place>();
    auto done = ask(objects, newest, [&](SqliteDatabase& database) {
        places = OpenIndex(database).starting_with(digits);
        return places ? Result<>() : Result<>(places.error());
    });
    return done ? std::move(places) : Result<std::vector<Place>>(done.error());
}

Result<std::string> ListingIndex::compare(const GitObjects& objects, const GitId& newest) {
    const std::lock_guard lock(mutex_);
    auto there = os_.stat_beneath(folder_fd_, kName);
    if (!there) {
        return there.error().code() == Errc::not_found ? Result<std::string>(std::string())
                                                       : Result<std::string>(there.error());
    }
    auto database = open_index(folder_);
    if (!database) {
        return database.error().code() == Errc::corrupt
                   ? Result<std::string>(database.error().message())
                   : Result<std::string>(database.error());
    }
    OpenIndex index(*database);
    auto state = index.state();
    if (!state || !*state) {
        return state ? std::string() : state.error().message();
    }
    bool meets = false;
    auto links = links_since(objects, newest, (*state)->tip, &meets);
    if (!links || !meets) {
        return links ? Result<std::string>(std::string()) : Result<std::string>(links.error());
    }
    links = links_since(objects, (*state)->tip, GitId{}, &meets);
    if (!links) {
        return links.error();
    }
    ChainReading reading{ChainState{}};
    for (auto link = links->rbegin(); link != links->rend(); ++link) {
        if (auto added = reading.add(*link); !added) {
            return added.error().message();
        }
    }
    auto places = index.page(ChainReading::kMaxNumber, 0, "");
    auto files = index.files();
    if (!places || !files) {
        return places ? files.error().message() : places.error().message();
    }
    const std::vector<Place> wanted = reading.places();
    const bool is_same =
        std::equal(places->rbegin(), places->rend(), wanted.begin(), wanted.end()) &&
        *files == reading.files();
    return is_same ? std::string() : std::string("it does not say what the commits say");
}

}  // namespace daybook
