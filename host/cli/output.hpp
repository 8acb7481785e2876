// What `daybook` prints: results on stdout, errors on stderr in one to three lines, or JSON lines.
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook::cli {

struct Options;

class Output {
  public:
    explicit Output(const Options& options);

    [[nodiscard]] bool json() const noexcept { return json_; }
    [[nodiscard]] bool quiet() const noexcept { return quiet_; }

    /// A line on stdout.
    void line(std::string_view text) const;
    /// Text on stdout as it is, at once (a stream).
    void raw(std::string_view text) const;
    /// A JSON object on one line of stdout.
    void object(const Json& json) const;
    /// What is going on: stderr, nothing with --quiet or --json.
    void say(std::string_view text) const;
    /// "daybook: what: why" and what to do, on stderr; with --json {"error":{…}}. Returns the exit
    /// code.
    int fail(const Error& error, std::string_view todo = {}) const;

    /// Marks for a terminal; the text itself elsewhere.
    [[nodiscard]] std::string bold(std::string_view text) const { return marked("1", text); }
    [[nodiscard]] std::string dim(std::string_view text) const { return marked("2", text); }
    [[nodiscard]] std::string red(std::string_view text) const { return marked("31", text); }
    [[nodiscard]] std::string green(std::string_view text) const { return marked("32", text); }
    [[nodiscard]] std::string yellow(std::string_view text) const { return marked("33", text); }

  private:
    [[nodiscard]] std::string marked(std::string_view code, std::string_view text) const;

    bool json_;
    bool quiet_;
    bool color_;
};

/// Exit code of a command that was interrupted from the keyboard.
inline constexpr int kInterrupted = 130;

}  // namespace daybook::cli
