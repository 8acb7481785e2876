#include "tests/story/story.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/story/story_life.hpp"

namespace daybook::test {

namespace fs = std::filesystem;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

Json parsed(const std::string& text, const std::string& where) {
    auto json = Json::parse(text);
    if (!json) {
        throw std::runtime_error(where + ": " + json.error().message());
    }
    return *json;
}

/// What a life told before it ended.
struct Told {
    std::size_t began = 0;  ///< the last action that was begun
    std::size_t next = 0;   ///< after a stop: the action behind it
    bool stopped = false;
    std::string failure;
    bool was_killed = false;
};

void tell(int pipe, const std::string& line) {
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t sent = ::write(pipe, rest.data(), rest.size());
        if (sent <= 0) {
            return;
        }
        rest.remove_prefix(static_cast<std::size_t>(sent));
    }
}

[[noreturn]] void live_and_tell(const Story& story,
                                const fs::path& home,
                                std::size_t first,
                                int pipe) {
    const int log = ::open((home / "log.txt").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log, STDERR_FILENO);
    try {
        const std::size_t next = live(story, home, first, [&](std::size_t number) {
            tell(pipe, "began " + std::to_string(number) + "\n");
        });
        tell(pipe, "stopped " + std::to_string(next) + "\n");
    } catch (const std::exception& error) {
        tell(pipe, "failed " + std::string(error.what()) + "\n");
    }
    ::_exit(0);
}

Told hear(int pipe) {
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(pipe, buffer, sizeof buffer)) != 0;) {
        if (got < 0 && errno != EINTR) {
            break;
        }
        text.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    Told told;
    std::istringstream lines(text);
    for (std::string word; lines >> word;) {
        if (word == "began") {
            lines >> told.began;
        } else if (word == "stopped") {
            lines >> told.next;
            told.stopped = true;
        } else {
            std::ostringstream rest;
            rest << lines.rdbuf();
            told.failure = word == "failed" ? rest.str() : word + rest.str();
            break;
        }
    }
    return told;
}

Told run_life(const Story& story, const fs::path& home, std::size_t first) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw std::runtime_error("make a pipe");
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        live_and_tell(story, home, first, ends[1]);
    }
    ::close(ends[1]);
    Told told = hear(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    told.was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!told.stopped && !told.was_killed && told.failure.empty()) {
        told.failure = "the host's process ended by itself, status " + std::to_string(status);
    }
    return told;
}

}  // namespace

std::string contents_of_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        throw std::runtime_error("read " + file.string());
    }
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<fs::path> story_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root)) {
        if (fs::exists(entry.path() / "feed.jsonl")) {
            folders.push_back(entry.path());
        }
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

Story load_story(const fs::path& folder) {
    Story story;
    story.folder = folder;
    story.name = folder.filename().string();
    story.config = replaced(contents_of_file(folder / "daybook.toml"),
                            "@FIXTURES@",
                            std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/fixtures");
    story.config = replaced(story.config, "@STORY@", folder.string());
    story.answers = fs::exists(folder / "answers.json")
                        ? parsed(contents_of_file(folder / "answers.json"), "answers.json")
                        : Json::object();
    std::istringstream feed(contents_of_file(folder / "feed.jsonl"));
    std::size_t number = 0;
    for (std::string line; std::getline(feed, line);) {
        const std::string where = folder.string() + "/feed.jsonl:" + std::to_string(++number);
        if (line.empty()) {
            continue;
        }
        Json action = parsed(line, where);
        if (story.title.empty()) {
            story.title = action["story"].as_string();
            if (story.title.empty()) {
                throw std::runtime_error(where + R"(: the first line is {"story":"…"})");
            }
            continue;
        }
        story.actions.push_back(action.set("line", number));
    }
    return story;
}

void play(const Story& story, const fs::path& home) {
    fs::create_directories(home);
    std::size_t next = 0;
    const auto at = [&](std::size_t number, const std::string& what) {
        return std::runtime_error(story.name + "/feed.jsonl:" +
                                  std::to_string(number < story.actions.size()
                                                     ? story.actions[number]["line"].as_integer()
                                                     : 0) +
                                  ": " + what);
    };
    while (true) {
        const Told told = run_life(story, home, next);
        if (!told.failure.empty()) {
            throw at(told.began, told.failure);
        }
        if (told.stopped) {
            next = told.next;
        } else {
            // Killed as the feed said: the action under way was cut, the next one starts the host.
            next = told.began + 1;
        }
        for (; next < story.actions.size() && story.actions[next]["do"].as_string() != "start";
             ++next) {
            act_on_files(story.actions[next], home);
        }
        if (next == story.actions.size()) {
            if (!told.stopped) {
                throw at(next - 1, "the story ends with a killed host");
            }
            return;
        }
        ++next;
    }
}

}  // namespace daybook::test
