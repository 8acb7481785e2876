// A program in a walled child ("daybook.process/1", ext/process.h), lines in and out.
//
//     daybook::Process claude(call, "claude", {{"-p", "--verbose"}});
//     claude.send(R"({"type":"user"})");
//     for (daybook::Process::Line line; claude.receive(line);) {
//         if (is_result(line.text)) {
//             break;  // it goes on running, for the next call
//         }
//     }
//
// The manifest must want "daybook.process/1", and the owner's configuration names the program.
// Every function throws PluginError with the host's status and sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/call.hpp>
#include <daybook/ext/process.h>
#include <daybook/json.hpp>

namespace daybook {

/// How a program is started; of one that runs already, only `fresh` and `own` count.
struct ProcessAsk {
    std::vector<std::string> arguments;  ///< behind the owner's
    std::vector<std::pair<std::string, std::string>> environment;
    bool fresh = false;              ///< ends the one that runs first
    bool own = false;                ///< of this call alone, ended with it
    std::string on_cancel = "keep";  ///< when the call is cancelled: keep, interrupt, end
};

/// Attached to a program for as long as its call lasts; the program goes on. One thread at a time.
class Process {
  public:
    struct Line {
        std::string text;
        bool is_cut = false;   ///< longer than the host passes on; its rest is lost
        bool is_rest = false;  ///< the output ended behind it, without a line end
    };
    enum class Received { nothing, line, ended };

    Process(const Call& call, std::string_view program, const ProcessAsk& ask = {})
        : call_(call.handle()), table_(&call.extension<daybook_process>(DAYBOOK_EXT_PROCESS)) {
        json::ArrayWriter arguments;
        for (const std::string& argument : ask.arguments) {
            arguments.add(argument);
        }
        json::ObjectWriter environment;
        for (const auto& [name, value] : ask.environment) {
            environment.add(name, value);
        }
        json::ObjectWriter options;
        options.add_raw("args", arguments.str()).add_raw("env", environment.str());
        options.add("fresh", ask.fresh).add("own", ask.own).add("on_cancel", ask.on_cancel);
        const std::string text = options.str();
        const std::string answer = Call::ask([&](auto* to, auto sink) {
            return table_->start(
                call_, detail::to_str(program), detail::to_str(text), &id_, to, sink);
        });
        const json::ObjectReader in(answer);
        is_fresh_ = in.boolean("fresh");
        generation_ = in.integer("generation");
    }

    /// Whether this very start made it; else it ran already.
    [[nodiscard]] bool is_fresh() const noexcept { return is_fresh_; }
    [[nodiscard]] std::int64_t generation() const noexcept { return generation_; }

    void send(std::string_view line) const {
        Call::ask([&](auto* to, auto sink) {
            return table_->send(call_, id_, detail::to_str(line), to, sink);
        });
    }
    /// The next line, as long as the call lasts; false at the end of the output.
    bool receive(Line& line) const { return receive(line, -1) == Received::line; }
    /// Waits at most so long.
    Received receive(Line& line, std::int64_t timeout_ms) const {
        std::int32_t what = DAYBOOK_PROCESS_NOTHING;
        line.text = Call::ask([&](auto* to, auto sink) {
            return table_->receive(call_, id_, timeout_ms, &what, to, sink);
        });
        line.is_cut = what == DAYBOOK_PROCESS_CUT;
        line.is_rest = what == DAYBOOK_PROCESS_REST;
        return what == DAYBOOK_PROCESS_NOTHING ? Received::nothing
               : what == DAYBOOK_PROCESS_ENDED ? Received::ended
                                               : Received::line;
    }
    void close_input() const {
        Call::ask([&](auto* to, auto sink) { return table_->close_input(call_, id_, to, sink); });
    }
    /// "interrupt", "terminate", "kill".
    void signal(std::string_view which) const {
        Call::ask([&](auto* to, auto sink) {
            return table_->signal(call_, id_, detail::to_str(which), to, sink);
        });
    }
    /// JSON {"state":"ended","code","signal","errors"} or {"state":"running"} after that time.
    [[nodiscard]] std::string wait(std::int64_t timeout_ms = -1) const {
        return Call::ask(
            [&](auto* to, auto sink) { return table_->wait(call_, id_, timeout_ms, to, sink); });
    }

  private:
    daybook_call* call_;
    const daybook_process* table_;
    std::int64_t id_ = 0;
    std::int64_t generation_ = 0;
    bool is_fresh_ = false;
};

}  // namespace daybook
