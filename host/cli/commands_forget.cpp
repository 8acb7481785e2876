// forget: takes the text from standard input, a file or the keyboard, so that it need not stand in
// a command line.
#include <fstream>
#include <iostream>
#include <sstream>
#include <termios.h>
#include <unistd.h>

#include "host/cli/commands.hpp"
#include "host/cli/offline_host.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

/// The terminal shows nothing of what is typed while it lives.
class Hidden {
  public:
    Hidden() : is_terminal_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (is_terminal_) {
            termios quiet = before_;
            quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
            ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        }
    }
    ~Hidden() {
        if (is_terminal_) {
            ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
        }
    }
    Hidden(const Hidden&) = delete;
    Hidden& operator=(const Hidden&) = delete;
    Hidden(Hidden&&) = delete;
    Hidden& operator=(Hidden&&) = delete;

  private:
    termios before_{};
    bool is_terminal_;
};

std::string whole(std::istream& in) {
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// One text: all of it but the newline at its end.
Result<std::string> read_text(const Options& options, const Output& output) {
    std::string text;
    if (!options.text.empty()) {
        return options.text;
    }
    if (!options.file.empty() && options.file != "-") {
        std::ifstream in(options.file, std::ios::binary);
        if (!in) {
            return Error(Errc::not_found, "read " + options.file);
        }
        text = whole(in);
    } else if (options.file.empty() && ::isatty(STDIN_FILENO) != 0) {
        output.say("The text to forget (it is not shown):");
        const Hidden hidden;
        std::getline(std::cin, text);
    } else {
        text = whole(std::cin);
    }
    if (text.ends_with('\n')) {
        text.pop_back();
    }
    return text;
}

void print_forgotten(const Json& result, const Output& output) {
    const auto count = [&](const char* name) { return grouped(result[name].as_integer()); };
    const std::string verb = result["dry_run"].as_bool() ? "would mask " : "masked ";
    for (const Json& file : result["files"].items()) {
        output.line("  " + file.as_string());
    }
    output.line(verb + count("places") + " places in files of desk " + result["desk"].as_string() +
                ", " + count("lines") + " lines of record, " + count("contents") +
                " contents of the history (" + count("commits") + " commits made anew, " +
                count("removed") + " former objects removed)");
    for (const Json& each : result["unreached"].items()) {
        output.line("not reached: " + each.as_string());
    }
    if (!result["verified"].as_bool()) {
        output.line(output.red("verify finds something wrong: daybook checkpoint verify"));
    }
}

}  // namespace

int forget_text(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const std::string desk = options.words.empty() ? options.desk : options.words.front();
    if (desk.empty()) {
        return output.fail(Error(Errc::invalid, "name the desk as the first word"));
    }
    auto text = read_text(options, output);
    if (!text) {
        return output.fail(text.error());
    }
    const Json args = Json::object()
                          .set("desk", desk)
                          .set("texts", Json::array({*text}))
                          .set("dry_run", options.dry_run);
    auto result = call_either(options, *places, "desk.forget", args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
    } else {
        print_forgotten(*result, output);
    }
    return (*result)["verified"].as_bool() ? 0 : exit_code_of(Errc::corrupt);
}

}  // namespace daybook::cli
