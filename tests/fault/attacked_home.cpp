#include "tests/fault/attacked_home.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <set>
#include <sstream>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "host/cli/client.hpp"
#include "host/format/sha256.hpp"
#include "host/os/unique_fd.hpp"
#include "tests/catch.hpp"

namespace daybook::test {

namespace fs = std::filesystem;

fs::path fixture(const std::string& name) {
    return fs::path(DAYBOOK_BUILD_DIR) / "lib/daybook/fixtures" / (name + ".so");
}

std::string plugin_table(const std::string& name) {
    return "[plugin." + name + "]\nfile = \"" + fixture(name).string() + "\"\n";
}

std::string config_text(const std::string& host_lines, const std::string& tables) {
    return "[host]\n" + host_lines + "\n[model.clerk]\nplugin = \"clerk\"\n" + tables;
}

std::string desk_table(const std::string& name, const std::vector<std::string>& plugins) {
    std::string list;
    for (const std::string& plugin : plugins) {
        list += (list.empty() ? "\"" : ", \"") + plugin + "\"";
    }
    return "[desk." + name + "]\ncalendar = \"always\"\nmodels = [\"clerk\"]\nplugins = [" + list +
           "]\n";
}

Result<Json> request(const Home& home, std::string_view verb, Json args) {
    Surroundings surroundings = Surroundings::of_process();
    surroundings.variable = [](const char*) { return std::string(); };
    PlaceOptions options;
    options.home = home.path();
    auto places = find_places(options, surroundings);
    if (!places) {
        return places.error();
    }
    auto client = cli::Client::connect(*places);
    return client ? client->call(verb, args) : Result<Json>(client.error());
}

Result<Json> call_tool(const Home& home,
                       const std::string& tool,
                       Json arguments,
                       const std::string& desk) {
    return request(
        home,
        "tool.call",
        Json::object().set("desk", desk).set("tool", tool).set("arguments", std::move(arguments)));
}

Shell shell(const std::string& line) {
    Shell ran;
    std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "re");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
        ran.out.append(buffer, got);
    }
    const int status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return ran;
}

std::string contents_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

fs::path workspace(const Home& home, const std::string& desk) {
    return home.path() / "state/workspace" / desk;
}

fs::path repository(const Home& home, const std::string& desk) {
    return home.path() / "state/workspace/.checkpoints" / (desk + ".git");
}

namespace {

std::vector<fs::path> files_of(const fs::path& folder, std::string_view ending) {
    std::set<fs::path> files;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder, missing)) {
        if (entry.path().string().ends_with(ending)) {
            files.insert(entry.path());
        }
    }
    return {files.begin(), files.end()};
}

std::string attributes_of(const fs::path& path) {
    char names[1024];
    const ssize_t bytes = ::llistxattr(path.c_str(), names, sizeof names);
    return bytes > 0 ? std::string(names, static_cast<std::size_t>(bytes)) : std::string();
}

std::string time_of(const timespec& time) {
    return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
}

}  // namespace

std::string notes_of(const Home& home, const std::string& desk) {
    std::string text;
    for (const fs::path& file : files_of(workspace(home, desk) / "notes", ".md")) {
        text += contents_of(file);
    }
    return text;
}

Shell checkpointed(const Home& home, const std::string& checkpoint, const std::string& file) {
    // git sees a checkpoint a moment after it is durable; this request waits for that.
    const Result<Json> ignored = request(home, "home.usage", Json::object().set("desk", "main"));
    const std::string git = "git --git-dir " + repository(home).string();
    const Shell commit =
        shell(git + " log --format=%H --grep='^Checkpoint: " + checkpoint + "$' checkpoints");
    if (commit.code != 0 || commit.out.size() < 40) {
        return {1, "no commit of " + checkpoint + ": " + commit.out};
    }
    return shell(git + " cat-file blob " + commit.out.substr(0, 40) + ":" + file);
}

std::vector<Json> records_of(const Home& home, const std::string& folder) {
    std::vector<Json> records;
    for (const fs::path& file : files_of(home.path() / "state" / folder, ".jsonl")) {
        std::istringstream in(contents_of(file));
        for (std::string line; std::getline(in, line);) {
            auto parsed = Json::parse(line);
            INFO(file.string() << ": " << line);
            REQUIRE(parsed);
            records.push_back(std::move(*parsed));
        }
    }
    return records;
}

void check_lines(const Home& home, const std::string& folder) {
    for (const fs::path& file : files_of(home.path() / "state" / folder, ".jsonl")) {
        const std::string text = contents_of(file);
        INFO(file.string());
        CHECK((text.empty() || text.back() == '\n'));
        std::istringstream in(text);
        std::int64_t seq = 0;
        std::size_t bad = 0;
        for (std::string line; std::getline(in, line);) {
            const auto parsed = Json::parse(line);
            bad += parsed && (*parsed)["seq"].as_integer() == ++seq ? 0U : 1U;
        }
        CHECK(bad == 0);
    }
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

Picture picture_of(const fs::path& folder) {
    Picture picture;
    const auto add = [&](const fs::path& path) {
        struct stat status = {};
        if (::lstat(path.c_str(), &status) != 0) {
            return;
        }
        std::string seen = std::to_string(status.st_mode) + " " + std::to_string(status.st_ino) +
                           " " + std::to_string(status.st_nlink) + " " +
                           std::to_string(status.st_uid) + " " + std::to_string(status.st_gid) +
                           " " + std::to_string(status.st_size) + " " + time_of(status.st_mtim) +
                           " " + time_of(status.st_ctim) + " " + attributes_of(path);
        if (S_ISREG(status.st_mode)) {
            seen += " " + sha256_hex(contents_of(path));
        }
        picture.emplace(path.string(), std::move(seen));
    };
    add(folder);
    if (!fs::is_directory(folder)) {
        return picture;
    }
    for (const auto& entry :
         fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        add(entry.path());
    }
    return picture;
}

std::string difference(const Picture& before, const Picture& after) {
    std::string text;
    for (const auto& [path, seen] : before) {
        const auto found = after.find(path);
        if (found == after.end()) {
            text += path + " is gone\n";
        } else if (found->second != seen) {
            text += path + ": " + seen + " -> " + found->second + "\n";
        }
    }
    for (const auto& [path, seen] : after) {
        text += before.contains(path) ? "" : path + " is new\n";
    }
    return text;
}

std::vector<pid_t> runners_of(const Home& home) {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        const std::string words = contents_of(entry.path() / "cmdline");
        if (words.find("daybook-runner") != std::string::npos &&
            words.find(home.path().string() + "/") != std::string::npos) {
            found.push_back(static_cast<pid_t>(std::stol(name)));
        }
    }
    return found;
}

bool is_root() {
    return ::geteuid() == 0;
}

AsUser::AsUser(uid_t user) {
    if (user == ::geteuid()) {
        return;
    }
    // The saved ids stay root's, which the way back needs; a program that is started loses them.
    REQUIRE(::setgroups(0, nullptr) == 0);
    REQUIRE(::setresgid(user, user, 0) == 0);
    REQUIRE(::setresuid(user, user, 0) == 0);
    changed_ = true;
}

AsUser::~AsUser() {
    if (changed_ && (::setresuid(0, 0, 0) != 0 || ::setresgid(0, 0, 0) != 0)) {
        std::perror("take root's ids back");
    }
}

Mount Mount::small_disk(const fs::path& place, const std::string& size) {
    Mount mount(place);
    fs::create_directories(place);
    if (::mount("none", place.c_str(), "tmpfs", 0, ("mode=0700,size=" + size).c_str()) != 0) {
        mount.why_not_ = std::string("mount a small disk: ") + std::strerror(errno);
    }
    return mount;
}

Mount Mount::read_only(const fs::path& place) {
    Mount mount(place);
    if (::mount(place.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0) {
        mount.why_not_ = std::string("mount a folder on itself: ") + std::strerror(errno);
    } else if (::mount(
                   nullptr, place.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) !=
               0) {
        mount.why_not_ = std::string("make a mount read-only: ") + std::strerror(errno);
        ::umount2(place.c_str(), MNT_DETACH);
    }
    return mount;
}

Mount::Mount(Mount&& other) noexcept
    : place_(std::exchange(other.place_, {})), why_not_(std::move(other.why_not_)) {}

Mount::~Mount() {
    if (!place_.empty() && why_not_.empty()) {
        ::umount2(place_.c_str(), MNT_DETACH);
    }
}

}  // namespace daybook::test
