// A small host in this process: loads a built plugin through the C interface and serves the core
// table, desk-files/1 and clock/1 from memory. No wall, no runner: those have tests of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>

namespace daybook::test {

/// How a call ended.
struct Outcome {
    daybook_status status = DAYBOOK_INTERNAL;
    std::string json;     ///< the result
    std::string message;  ///< of a failure
    std::string detail;
    int endings = 0;  ///< results and failures together: must be 1
    [[nodiscard]] bool ok() const noexcept { return status == DAYBOOK_OK; }
};

struct StreamedCall {
    std::string id, name, arguments;
};

/// What a model's turn streamed.
struct Turn {
    Outcome outcome;
    std::string text;
    std::vector<StreamedCall> calls;
    std::optional<daybook_usage> usage;
    std::vector<std::string> ends;
    std::vector<std::string> error_classes;
    std::string error_message;
};

class FakeHost {
  public:
    /// The clock stands at `local` ("2019-01-02T10:15:00"), zone Asia/Kolkata.
    explicit FakeHost(std::string_view local = "2019-01-02T10:15:00");
    ~FakeHost();
    FakeHost(const FakeHost&) = delete;
    FakeHost& operator=(const FakeHost&) = delete;
    FakeHost(FakeHost&&) = delete;
    FakeHost& operator=(FakeHost&&) = delete;

    /// Loads DAYBOOK_BUILD_DIR/lib/daybook/plugins/1/<name>.so and opens it. Returns open's error,
    /// "" when there is none.
    std::string open(const std::string& name, const std::string& config = "{}");

    /// A tool's call; starts a new turn first unless told otherwise.
    Outcome call(const std::string& tool, const std::string& args, bool same_turn = false);
    Turn turn(const std::string& request);
    [[nodiscard]] const daybook_plugin& plugin() const noexcept { return *plugin_; }
    [[nodiscard]] daybook_instance* instance() const noexcept { return instance_; }

    void set_now(std::string_view local);

    // --- what the plugin meets ---
    std::map<std::string, std::string> files;
    std::string zone = "Asia/Kolkata";
    /// JSON of the clock's `sessions`; weekdays 09:15 to 15:30 unless replaced.
    std::function<std::string(const std::string& day)> sessions;
    /// Answers every write with this status and message instead of doing it.
    std::optional<std::pair<daybook_status, std::string>> refuse_writes;
    bool cancelled = false;
    std::size_t reads = 0;
    std::size_t writes = 0;
    std::size_t session_questions = 0;

    // --- for the C functions ---
    struct CallState;
    std::int64_t now_ns() const noexcept { return now_ns_; }
    std::string describe() const;
    daybook_status write(
        const std::string& path,
        const std::string& base,
        const std::function<daybook_status(std::string& content, std::string& why)>& change,
        bool needs_base,
        std::string& receipt);
    std::map<std::string, std::string> shown;

  private:
    void* library_ = nullptr;
    const daybook_plugin* plugin_ = nullptr;
    daybook_instance* instance_ = nullptr;
    daybook_host host_{};
    daybook_desk_files desk_files_{};
    daybook_clock clock_{};
    std::int64_t now_ns_ = 0;
    std::string local_;

    friend const void* find_extension(void*, const char*);
};

}  // namespace daybook::test
