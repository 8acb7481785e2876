// Runs the built programs, and keeps a home with its host for one test.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "host/format/json.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

struct Ran {
    int code = -1;  ///< exit code; 128 + signal when ended by one
    std::string out;
    std::string err;
    /// stdout as one JSON object; fails the test when it is none.
    [[nodiscard]] Json json() const;
    /// stdout as JSON lines.
    [[nodiscard]] std::vector<Json> lines() const;
};

using Words = std::vector<std::string>;

/// Runs a program of the build's bin/, or one by its absolute path, with an environment that holds
/// nothing of the caller's but PATH; HOME is `home`.
Ran run_program(const std::string& program,
                const Words& arguments,
                const std::filesystem::path& home,
                const std::string& input = "");

/// A running program whose stdout is read line by line.
class Running {
  public:
    Running(const std::string& program, const Words& arguments, const std::filesystem::path& home);
    ~Running();  ///< kills it
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    Running(Running&&) = delete;
    Running& operator=(Running&&) = delete;
    /// The next line of stdout; "" at its end or after 20 s.
    std::string line();
    void signal(int number) const;
    /// Exit code, 128 + signal, or -1 after 30 s.
    int wait();

  private:
    pid_t pid_ = -1;
    int out_ = -1;
    std::string in_;
};

/// A folder made with `daybook init`, and the host that runs there.
class Home {
  public:
    explicit Home(const Words& init_flags = {});
    ~Home();  ///< kills the host when it still runs
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;
    Home(Home&&) = delete;
    Home& operator=(Home&&) = delete;

    void start();
    /// Approves the fixtures that the configuration names; start() does so.
    void trust_fixtures() const;
    void stop();
    /// kill -9; returns when the process is gone.
    void kill();
    /// Returns when the host, which something else has killed, is gone.
    void wait_gone();
    /// daybook … --home of this home.
    [[nodiscard]] Ran daybook(Words words) const;
    /// The same with --json, expecting exit code 0.
    [[nodiscard]] Json ask(Words words) const;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] std::string read(const std::string& file) const {
        return folder_.read("home/" + file);
    }
    void write(const std::string& file, const std::string& text) const {
        folder_.write("home/" + file, text);
    }

  private:
    TempFolder folder_;
    std::filesystem::path path_;
    pid_t pid_ = -1;
};

/// Whether the condition comes true within 20 s.
bool eventually(const std::function<bool()>& holds);

}  // namespace daybook::test
