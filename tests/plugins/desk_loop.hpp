// The host's turn loop in small: the clerk asks, the memory and candles plugins answer, until the
// turn ends. Tool calls go through the plugins' C interfaces, content rules excepted.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/plugins/fake_host.hpp"

namespace daybook::test {

class DeskLoop {
  public:
    explicit DeskLoop(const std::string& local);

    /// Runs one trigger to its end and returns the answer. Throws when the stream breaks its rules
    /// or goes on for more than five rounds.
    std::string run(const std::string& kind, const std::string& text, const std::string& name = "");
    void set_now(const std::string& local);

    FakeHost memory;
    FakeHost candles;
    FakeHost clerk;
    std::vector<std::string> tools = {"add_note", "read_file", "list_files", "price", "candles"};
    std::vector<std::string> called;  ///< "tool arguments", of the last run
    /// Refuses a note as the host's content rules would; the sentence, or nothing.
    std::function<std::optional<std::string>(const std::string& args)> content_rule;

  private:
    [[nodiscard]] std::string request(const std::string& kind) const;
    void answer_call(const StreamedCall& call);

    std::string local_;
    std::vector<std::string> messages_;
    std::size_t turns_ = 0;
};

/// A request with one user message and nothing else.
[[nodiscard]] std::string request_of(const std::string& kind,
                                     const std::string& source,
                                     const std::string& text,
                                     const std::vector<std::string>& tools = {},
                                     const std::string& more_messages = "");

}  // namespace daybook::test
