// daybook-check: the conformance kit behind `daybook plugin check`. It needs no host: it starts
// the installed runner, plays the host, and runs each check in a process of its own, so that a
// crash or a hang is that check's verdict. Loading what it checks, it holds nothing of a desk.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "host/check/checks.hpp"
#include "host/os/desk_path.hpp"

namespace daybook::check {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVerdictMark = "daybook-check-verdict ";
constexpr std::chrono::seconds kCheckTime{120};
constexpr int kStrictest = 3;
constexpr int kPassed = 0, kFailed = 1, kWrong = 2;

struct Wish {
    Subject subject;
    std::vector<std::string> only;
    int strict = 2;
    bool list = false, json = false;
    std::string run;  ///< the one check of this process
};

std::vector<const Check*> all_checks() {
    std::vector<const Check*> all;
    for (const auto& part : {file_checks(), call_checks(), model_checks(), direct_checks()}) {
        for (const Check& each : part) {
            all.push_back(&each);
        }
    }
    return all;
}

std::string_view name_of(Verdict::State state) {
    return state == Verdict::State::pass ? "pass" : state == Verdict::State::fail ? "fail" : "skip";
}

template <class Number>
bool read_number(const std::string& text, Number& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc() && end == text.data() + text.size();
}

/// One option with a value. False: it is none.
bool take_option(Wish& wish, const std::string& name, const std::string& value, bool& fits) {
    Subject& subject = wish.subject;
    if (name == "--only") {
        std::istringstream ids(value);
        for (std::string id; std::getline(ids, id, ',');) {
            wish.only.push_back(id);
        }
    } else if (name == "--strict") {
        fits = read_number(value, wish.strict) && wish.strict >= 1 && wish.strict <= kStrictest;
    } else if (name == "--seed") {
        fits = read_number(value, subject.seed);
    } else if (name == "--rounds") {
        fits = read_number(value, subject.rounds) && subject.rounds > 0;
    } else if (name == "--config") {
        const auto json = Json::parse(value);
        fits = json && json->is_object();
        subject.config = value;
    } else if (name == "--isolation") {
        subject.isolation = value;
    } else if (name == "--run") {
        wish.run = value;
    } else if (name == "--work") {
        subject.work = value;
    } else {
        return false;
    }
    return true;
}

Result<Wish> read_wish(const std::vector<std::string>& words) {
    Wish wish;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        bool fits = true;
        if (word == "--list") {
            wish.list = true;
        } else if (word == "--json") {
            wish.json = true;
        } else if (word == "--in-process") {
            wish.subject.in_process = true;
        } else if (word.starts_with("--")) {
            if (i + 1 >= words.size() || !take_option(wish, word, words[i + 1], fits)) {
                return Error(Errc::invalid, "unknown option, or one without its value: " + word);
            }
            ++i;
        } else {
            wish.subject.file = word;
        }
        if (!fits) {
            return Error(Errc::invalid, word + ": not " + words[i]);
        }
    }
    for (const std::string& id : wish.only) {
        const auto all = all_checks();
        if (std::none_of(
                all.begin(), all.end(), [&](const Check* each) { return each->id == id; })) {
            return Error(Errc::not_found, "no check " + printable(id, 60) + "; see --list");
        }
    }
    return wish;
}

Result<> read_subject(Subject& subject) {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    subject.runner = own.parent_path() / "daybook-runner";
    subject.file = fs::canonical(subject.file, error);
    if (error) {
        return Error(Errc::not_found, subject.file.string() + ": " + error.message());
    }
    std::ostringstream text;
    text << std::ifstream(subject.file, std::ios::binary).rdbuf();
    subject.bytes = text.str();
    const auto note = read_manifest_note(subject.bytes);
    auto manifest = note ? Manifest::parse(*note) : Result<Manifest>(note.error());
    if (!manifest) {
        return manifest.error().during(subject.file.string());
    }
    subject.manifest = std::move(*manifest);
    return {};
}

/// desk/, scratch/ and probe, removed with it.
class WorkFolder {
  public:
    WorkFolder() {
        const char* const base = std::getenv("TMPDIR");
        std::string name = std::string(base == nullptr ? "/tmp" : base) + "/daybook-check-XXXXXX";
        if (::mkdtemp(name.data()) != nullptr) {
            path_ = name;
            std::error_code error;
            fs::create_directories(path_ / "desk/notes", error);
            fs::create_directories(path_ / "scratch", error);
            std::ofstream(path_ / "desk/Memory.md") << "# Memory\n\n- NIFTY lot size is 75\n";
            std::ofstream(path_ / "probe") << "x";
        }
    }
    ~WorkFolder() {
        std::error_code error;
        if (!path_.empty()) {
            fs::remove_all(path_, error);
        }
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    WorkFolder(WorkFolder&&) = delete;
    WorkFolder& operator=(WorkFolder&&) = delete;
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

  private:
    fs::path path_;
};

/// In the check's own process: the verdict on stdout, behind what the plugin may have printed.
int run_here(const Wish& wish, const Check& check) {
    const Verdict verdict = check.run(wish.subject);
    std::printf("\n%s%s\n",
                std::string(kVerdictMark).c_str(),
                Json::object()
                    .set("state", name_of(verdict.state))
                    .set("text", verdict.text)
                    .dump()
                    .c_str());
    std::fflush(stdout);
    // Without destructors: threads of a plugin in this process must not meet them.
    ::_exit(verdict.state == Verdict::State::fail ? kFailed : kPassed);
}

std::string read_until_end(ChildProcess& child, std::chrono::seconds time, bool& late) {
    const auto until = std::chrono::steady_clock::now() + time;
    std::string text;
    while (true) {
        pollfd waits[2] = {{child.output(), POLLIN, 0}, {child.pidfd(), POLLIN, 0}};
        ::poll(waits, 2, 200);
        char buffer[4096];
        ssize_t got = 0;
        while ((got = ::read(child.output(), buffer, sizeof buffer)) > 0) {
            if (text.size() < (1UL << 20)) {
                text.append(buffer, static_cast<std::size_t>(got));
            }
        }
        if ((waits[1].revents & POLLIN) != 0) {
            return text;
        }
        late = std::chrono::steady_clock::now() >= until;
        if (late) {
            child.kill();
        }
    }
}

Verdict verdict_of(const std::string& output, const std::optional<ExitState>& exit, bool late) {
    const std::size_t at = output.rfind(kVerdictMark);
    if (at != std::string::npos) {
        std::string line = output.substr(at + kVerdictMark.size());
        line = line.substr(0, line.find('\n'));
        if (const auto json = Json::parse(line)) {
            const std::string& state = (*json)["state"].as_string();
            return {state == "pass"   ? Verdict::State::pass
                    : state == "fail" ? Verdict::State::fail
                                      : Verdict::State::skip,
                    (*json)["text"].as_string()};
        }
    }
    const std::string words = output.size() > 400 ? output.substr(output.size() - 400) : output;
    return fail((late ? "the check did not end within 120 s"
                      : "the check's process ended by " +
                            (exit ? exit->str() : std::string("an unknown way"))) +
                (words.empty() ? "" : "; it printed: " + printable(words, 500)));
}

Verdict run_apart(const Wish& wish, const Check& check, const fs::path& work) {
    std::error_code error;
    SpawnRequest request;
    request.program = fs::read_symlink("/proc/self/exe", error).string();
    const Subject& subject = wish.subject;
    request.arguments = {"--run",
                         std::string(check.id),
                         "--work",
                         work.string(),
                         "--seed",
                         std::to_string(subject.seed),
                         "--rounds",
                         std::to_string(subject.rounds),
                         "--config",
                         subject.config,
                         "--isolation",
                         subject.isolation,
                         subject.file.string()};
    request.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC"};
    auto child = ChildProcess::spawn(request);
    if (!child) {
        return fail(child.error().message());
    }
    bool late = false;
    const std::string output = read_until_end(*child, kCheckTime, late);
    return verdict_of(output, child->try_wait(), late);
}

void print_list() {
    for (const Check* check : all_checks()) {
        std::printf("%-28s %d  %s\n",
                    std::string(check->id).c_str(),
                    check->level,
                    std::string(check->what).c_str());
    }
}

int run_all(const Wish& wish, const fs::path& work) {
    int counts[3] = {0, 0, 0};
    Json results = Json::array();
    for (const Check* check : all_checks()) {
        const bool named =
            std::find(wish.only.begin(), wish.only.end(), check->id) != wish.only.end();
        if (wish.only.empty() ? check->level > wish.strict : !named) {
            continue;
        }
        const Verdict verdict = run_apart(wish, *check, work);
        ++counts[static_cast<std::size_t>(verdict.state)];
        results.push(Json::object()
                         .set("id", check->id)
                         .set("level", check->level)
                         .set("state", name_of(verdict.state))
                         .set("text", verdict.text));
        if (!wish.json) {
            std::printf("%s  %s%s%s\n",
                        std::string(name_of(verdict.state)).c_str(),
                        std::string(check->id).c_str(),
                        verdict.text.empty() ? "" : ": ",
                        verdict.text.c_str());
            std::fflush(stdout);
        }
    }
    const Manifest& manifest = wish.subject.manifest;
    if (wish.json) {
        std::printf("%s\n",
                    Json::object()
                        .set("plugin", manifest.name)
                        .set("version", manifest.version)
                        .set("file", wish.subject.file.string())
                        .set("strict", wish.strict)
                        .set("seed", wish.subject.seed)
                        .set("checks", std::move(results))
                        .set("passed", counts[0])
                        .set("failed", counts[1])
                        .set("skipped", counts[2])
                        .dump()
                        .c_str());
    } else {
        std::printf("%s %s: %d passed, %d failed, %d skipped (strict %d, seed %llu)\n",
                    manifest.name.c_str(),
                    manifest.version.c_str(),
                    counts[0],
                    counts[1],
                    counts[2],
                    wish.strict,
                    static_cast<unsigned long long>(wish.subject.seed));
    }
    return counts[1] == 0 ? kPassed : kFailed;
}

int run_one_here(const Wish& wish, const std::string& id) {
    for (const Check* check : all_checks()) {
        if (check->id == id) {
            return run_here(wish, *check);
        }
    }
    return kWrong;
}

int wrong(const Wish& wish, const Error& error) {
    if (wish.json) {
        std::printf("%s\n",
                    Json::object()
                        .set("error",
                             Json::object()
                                 .set("code", daybook::name_of(error.code()))
                                 .set("message", error.message()))
                        .dump()
                        .c_str());
    }
    std::fprintf(stderr, "daybook plugin check: %s\n", error.message().c_str());
    return kWrong;
}

int run(const std::vector<std::string>& words) {
    auto wish = read_wish(words);
    if (!wish) {
        return wrong({}, wish.error());
    }
    if (wish->list) {
        print_list();
        return kPassed;
    }
    if (auto read = read_subject(wish->subject); !read) {
        return wrong(*wish, read.error());
    }
    if (!wish->run.empty()) {
        return run_one_here(*wish, wish->run);
    }
    const WorkFolder work;
    if (work.path().empty()) {
        return wrong(*wish, Error(Errc::io, "make a temporary folder"));
    }
    if (!wish->subject.in_process) {
        return run_all(*wish, work.path());
    }
    if (wish->only.size() != 1) {
        return wrong(*wish, Error(Errc::invalid, "--in-process wants --only ID, one check"));
    }
    std::fprintf(stderr, "in this process, WITHOUT walls: for a debugger only\n");
    wish->subject.work = work.path();
    return run_one_here(*wish, wish->only.front());
}

}  // namespace
}  // namespace daybook::check

int main(int argc, char** argv) {
    try {
        return daybook::check::run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "daybook plugin check: a fault of the program: %s\n", fault.what());
        return 2;
    }
}
