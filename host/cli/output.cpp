#include "host/cli/output.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "host/cli/interrupt.hpp"
#include "host/cli/options.hpp"
#include "host/surface/reply.hpp"

namespace daybook::cli {
namespace {

void put(std::FILE* stream, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream);
}

/// Length of a colour mark (ESC [ 31 m) at the start of the text, 0 for none.
std::size_t color_mark(std::string_view text) {
    if (!text.starts_with("\x1b[")) {
        return 0;
    }
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && end <= 8 && text[end] == 'm' ? end + 1 : 0;
}

/// Control characters of a host's or a model's text must not drive the terminal: only newlines,
/// tabs and, on a terminal with colours, colour marks stay.
std::string tame(std::string_view text, bool colors = false) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const std::size_t mark = colors ? color_mark(text.substr(i)) : 0; mark > 0) {
            out += text.substr(i, mark);
            i += mark - 1;
            continue;
        }
        const char c = text[i];
        const auto byte = static_cast<unsigned char>(c);
        out += (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F ? '?' : c;
    }
    return out;
}

}  // namespace

Output::Output(const Options& options)
    : json_(options.json),
      quiet_(options.quiet),
      color_(!options.no_color && std::getenv("NO_COLOR") == nullptr &&
             ::isatty(STDOUT_FILENO) != 0) {}

void Output::line(std::string_view text) const {
    raw(text);
    raw("\n");
}

void Output::raw(std::string_view text) const {
    put(stdout, tame(text, color_));
    std::fflush(stdout);
}

void Output::object(const Json& json) const {
    put(stdout, json.dump() + "\n");
    std::fflush(stdout);
}

void Output::say(std::string_view text) const {
    if (!quiet_ && !json_) {
        put(stderr, tame(text) + "\n");
    }
}

int Output::fail(const Error& error, std::string_view todo) const {
    const bool stopped = error.code() == Errc::cancelled && interrupted();
    const int code = stopped ? kInterrupted : exit_code_of(error.code());
    if (json_) {
        Json body = error_json(error).set("exit", code);
        if (!todo.empty()) {
            body.set("todo", todo);
        }
        put(stderr, Json::object().set("error", std::move(body)).dump() + "\n");
        return code;
    }
    std::string text = "daybook: ";
    for (const char c : tame(error.message())) {
        text += c;
        if (c == '\n') {
            text += "  ";
        }
    }
    if (!todo.empty()) {
        text.append("\n  ").append(todo);
    }
    put(stderr, text + "\n");
    return code;
}

std::string Output::marked(std::string_view code, std::string_view text) const {
    if (!color_) {
        return std::string(text);
    }
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace daybook::cli
