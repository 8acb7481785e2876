// What the tests against the whole programs share: homes with desks of the test's own, requests
// over the control socket, the files of record as they are on disk, and other users, disks and
// locks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "tests/cli/program.hpp"

namespace daybook::test {

/// A plugin that the tests bring: NAME.so of the fixtures.
[[nodiscard]] std::filesystem::path fixture(const std::string& name);
/// "[plugin.NAME]" with that file.
[[nodiscard]] std::string plugin_table(const std::string& name);
/// A configuration of [host] lines, the clerk, and further tables.
[[nodiscard]] std::string config_text(const std::string& host_lines, const std::string& tables);
/// "[desk.NAME]" with calendar always, the clerk, and these plugins.
[[nodiscard]] std::string desk_table(const std::string& name,
                                     const std::vector<std::string>& plugins);

/// One request on a connection of its own. Errors: the host's own; unavailable, lost_connection.
Result<Json> request(const Home& home, std::string_view verb, Json args);
/// tool.call of desk main. `arguments` is an object.
Result<Json> call_tool(const Home& home,
                       const std::string& tool,
                       Json arguments,
                       const std::string& desk = "main");

struct Shell {
    int code = -1;
    std::string out;  ///< stdout and stderr
};
/// Runs a line of the shell; for git, which reads our repositories as an owner would.
Shell shell(const std::string& line);

[[nodiscard]] std::string contents_of(const std::filesystem::path& file);
[[nodiscard]] std::filesystem::path workspace(const Home& home, const std::string& desk = "main");
[[nodiscard]] std::filesystem::path repository(const Home& home, const std::string& desk = "main");
/// All notes of a desk, day after day.
[[nodiscard]] std::string notes_of(const Home& home, const std::string& desk = "main");
/// What a checkpoint holds of a file, read with git; nullopt-like "" and code != 0 when it is not
/// there.
Shell checkpointed(const Home& home, const std::string& checkpoint, const std::string& file);
/// Every line of the *.jsonl files of a folder below the state folder, oldest file first. A line
/// that is not JSON fails the test.
[[nodiscard]] std::vector<Json> records_of(const Home& home, const std::string& folder);
/// The lines of those files are whole, and where they carry a seq it counts from 1 without holes,
/// file by file.
void check_lines(const Home& home, const std::string& folder);
[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part);

/// Every name below a folder with all that a write, a link, a change of mode, owner, times or
/// attributes changes.
using Picture = std::map<std::string, std::string>;
[[nodiscard]] Picture picture_of(const std::filesystem::path& folder);
/// What differs, for the message; "" when nothing does.
[[nodiscard]] std::string difference(const Picture& before, const Picture& after);

/// Processes of the build's daybook-runner that serve this home.
[[nodiscard]] std::vector<pid_t> runners_of(const Home& home);

/// While it lives, this process acts as another user, and so do the programs that it starts. Only
/// for root.
class AsUser {
  public:
    explicit AsUser(uid_t user);
    ~AsUser();
    AsUser(const AsUser&) = delete;
    AsUser& operator=(const AsUser&) = delete;
    AsUser(AsUser&&) = delete;
    AsUser& operator=(AsUser&&) = delete;

  private:
    bool changed_ = false;
};
inline constexpr uid_t kNobody = 65534;
[[nodiscard]] bool is_root();

/// A mount for as long as it lives: a small disk of its own, or the same folder read-only.
class Mount {
  public:
    static Mount small_disk(const std::filesystem::path& place, const std::string& size);
    static Mount read_only(const std::filesystem::path& place);
    ~Mount();
    Mount(Mount&& other) noexcept;
    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;
    Mount& operator=(Mount&&) = delete;
    /// Empty: done; else the reason why this machine does not allow it.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

  private:
    explicit Mount(std::filesystem::path place) : place_(std::move(place)) {}
    std::filesystem::path place_;
    std::string why_not_;
};

}  // namespace daybook::test
