#include "tests/plugins/fake_host.hpp"

#include <array>
#include <chrono>
#include <dlfcn.h>
#include <stdexcept>
#include <utility>

#include <daybook/json.hpp>

#include "host/format/sha256.hpp"
#include "host/gate/file_lines.hpp"
#include "plugins/skills/candles/moment.hpp"

/// One call in flight.
struct daybook_call {
    daybook::test::FakeHost* host = nullptr;
    daybook::test::Outcome outcome;
};

namespace daybook::test {

namespace {

std::string to_string(daybook_str text) {
    return text.len == 0 ? std::string() : std::string(text.ptr, text.len);
}
daybook_str to_str(std::string_view text) {
    return {text.data(), text.size()};
}

daybook_status fail(void* to,
                    daybook_sink sink,
                    daybook_status status,
                    const std::string& message) {
    sink(to, to_str(json::ObjectWriter().add("error", "fake").add("message", message).str()));
    return status;
}

void log(void*, std::int32_t, daybook_str, daybook_str) {}
std::int64_t deadline_ns(daybook_call*) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               (std::chrono::steady_clock::now() + std::chrono::hours(1)).time_since_epoch())
        .count();
}
std::int32_t cancelled(daybook_call* call) {
    return call->host->cancelled ? 1 : 0;
}
void progress(daybook_call*, daybook_str) {}
daybook_status result(daybook_call* call, daybook_str json) {
    if (call->outcome.endings++ == 0) {
        call->outcome.status = DAYBOOK_OK;
        call->outcome.json = to_string(json);
    }
    return DAYBOOK_OK;
}
daybook_status fail_call(daybook_call* call,
                         daybook_status status,
                         std::int32_t,
                         daybook_str message,
                         daybook_str detail) {
    if (call->outcome.endings++ == 0) {
        call->outcome.status = status;
        call->outcome.message = to_string(message);
        call->outcome.detail = to_string(detail);
    }
    return DAYBOOK_OK;
}
daybook_str idempotency_key(daybook_call*) {
    return {nullptr, 0};
}

daybook_status read_file(daybook_call* call, daybook_str path, void* to, daybook_sink sink) {
    FakeHost& host = *call->host;
    ++host.reads;
    const auto file = host.files.find(to_string(path));
    if (file == host.files.end()) {
        return fail(to, sink, DAYBOOK_NOT_FOUND, "read " + to_string(path) + ": no such file");
    }
    host.shown[file->first] = sha256_hex(file->second);
    // In two pieces, as a host may.
    const std::string_view content = file->second;
    sink(to, to_str(content.substr(0, content.size() / 2)));
    sink(to, to_str(content.substr(content.size() / 2)));
    return DAYBOOK_OK;
}

daybook_status read_lines(daybook_call* call,
                          daybook_str path,
                          std::int64_t first_line,
                          std::int64_t max_lines,
                          std::int64_t max_bytes,
                          void* to,
                          daybook_sink sink) {
    FakeHost& host = *call->host;
    ++host.reads;
    const auto file = host.files.find(to_string(path));
    if (file == host.files.end()) {
        return fail(to, sink, DAYBOOK_NOT_FOUND, "read " + to_string(path) + ": no such file");
    }
    const std::string& content = file->second;
    host.shown[file->first] = sha256_hex(content);
    const auto lines = slice_lines(content,
                                   {static_cast<std::size_t>(first_line),
                                    static_cast<std::size_t>(max_lines),
                                    static_cast<std::size_t>(max_bytes)});
    sink(to,
         to_str(json::ObjectWriter()
                    .add("text", lines.text)
                    .add("first_line", lines.first_line)
                    .add("lines", lines.lines)
                    .add("total_lines", lines.total_lines)
                    .add("bytes", content.size())
                    .add("sha256", host.shown[file->first])
                    .add("whole", lines.text.size() == content.size())
                    .add("cut_in_line", lines.cut_in_line)
                    .str()));
    return DAYBOOK_OK;
}

daybook_status list_files(daybook_call* call, daybook_str folder, void* to, daybook_sink sink) {
    json::ArrayWriter list;
    for (const auto& [path, text] : call->host->files) {
        if (path.starts_with(to_string(folder))) {
            list.add_raw(json::ObjectWriter()
                             .add("path", path)
                             .add("bytes", text.size())
                             .add("own", true)
                             .str());
        }
    }
    sink(to, to_str(list.str()));
    return DAYBOOK_OK;
}

daybook_status finish(daybook_status status,
                      const std::string& answer,
                      void* to,
                      daybook_sink sink) {
    if (status != DAYBOOK_OK) {
        return fail(to, sink, status, answer);
    }
    sink(to, to_str(answer));
    return status;
}

daybook_status append(daybook_call* call,
                      daybook_str path,
                      daybook_str base,
                      daybook_str text,
                      daybook_str,
                      void* to,
                      daybook_sink sink) {
    std::string answer;
    const auto status = call->host->write(
        to_string(path),
        to_string(base),
        [&](std::string& content, std::string&) {
            content += to_string(text);
            return DAYBOOK_OK;
        },
        false,
        answer);
    return finish(status, answer, to, sink);
}

daybook_status replace(daybook_call* call,
                       daybook_str path,
                       daybook_str base,
                       daybook_str text,
                       daybook_str,
                       void* to,
                       daybook_sink sink) {
    std::string answer;
    const auto status = call->host->write(
        to_string(path),
        to_string(base),
        [&](std::string& content, std::string&) {
            content = to_string(text);
            return DAYBOOK_OK;
        },
        true,
        answer);
    return finish(status, answer, to, sink);
}

daybook_status edit(daybook_call* call,
                    daybook_str path,
                    daybook_str base,
                    daybook_str old_text,
                    daybook_str new_text,
                    daybook_str,
                    void* to,
                    daybook_sink sink) {
    std::string answer;
    const auto status = call->host->write(
        to_string(path),
        to_string(base),
        [&](std::string& content, std::string& why) -> daybook_status {
            const std::string wanted = to_string(old_text);
            const auto at = content.find(wanted);
            if (at == std::string::npos || content.find(wanted, at + 1) != std::string::npos) {
                why = "edit: the old text does not occur exactly once";
                return DAYBOOK_INVALID;
            }
            content.replace(at, wanted.size(), to_string(new_text));
            return DAYBOOK_OK;
        },
        true,
        answer);
    return finish(status, answer, to, sink);
}

daybook_status now_ns(daybook_call* call, std::int64_t* out) {
    *out = call->host->now_ns();
    return DAYBOOK_OK;
}
daybook_status describe(daybook_call* call, void* to, daybook_sink sink) {
    sink(to, to_str(call->host->describe()));
    return DAYBOOK_OK;
}
daybook_status sessions_of(daybook_call* call, daybook_str day, void* to, daybook_sink sink) {
    ++call->host->session_questions;
    sink(to, to_str(call->host->sessions(to_string(day))));
    return DAYBOOK_OK;
}

std::string nse_sessions(const std::string& day) {
    const auto date = std::chrono::sys_days(
        std::chrono::floor<std::chrono::days>(candles::parse_plain_date(day).value()));
    const std::chrono::weekday weekday(date);
    const bool trades = weekday != std::chrono::Saturday && weekday != std::chrono::Sunday;
    return json::ObjectWriter()
        .add("day", day)
        .add("trading_day", trades)
        .add("known", true)
        .add_raw("sessions", trades ? R"([{"open":"09:15","close":"15:30"}])" : "[]")
        .str();
}

// The stream of a model; ctx is the Turn.
Turn& turn_of(void* ctx) {
    return *static_cast<Turn*>(ctx);
}
daybook_status stream_text(void* ctx, daybook_str delta) {
    turn_of(ctx).text += to_string(delta);
    return DAYBOOK_OK;
}
daybook_status stream_nothing(void*, daybook_str) {
    return DAYBOOK_OK;
}
daybook_status stream_call(void* ctx, daybook_str id, daybook_str name, daybook_str args) {
    turn_of(ctx).calls.push_back({to_string(id), to_string(name), to_string(args)});
    return DAYBOOK_OK;
}
daybook_status stream_usage(void* ctx, const daybook_usage* usage) {
    turn_of(ctx).usage = *usage;
    return DAYBOOK_OK;
}
daybook_status stream_compacted(void*, std::int64_t, std::int64_t) {
    return DAYBOOK_OK;
}
daybook_status stream_end(void* ctx, daybook_str reason) {
    turn_of(ctx).ends.push_back(to_string(reason));
    return DAYBOOK_OK;
}
daybook_status stream_error(void* ctx, daybook_str error_class, daybook_str message) {
    turn_of(ctx).error_classes.push_back(to_string(error_class));
    turn_of(ctx).error_message = to_string(message);
    return DAYBOOK_OK;
}

}  // namespace

const void* find_extension(void* ctx, const char* id) {
    FakeHost& host = *static_cast<FakeHost*>(ctx);
    const std::string_view name(id);
    if (name == DAYBOOK_EXT_DESK_FILES) {
        return &host.desk_files_;
    }
    return name == DAYBOOK_EXT_CLOCK ? &host.clock_ : nullptr;
}

FakeHost::FakeHost(std::string_view local) : sessions(nse_sessions) {
    host_ = {sizeof(daybook_host),
             DAYBOOK_ABI_MAJOR,
             DAYBOOK_ABI_MINOR,
             0,
             "fake",
             this,
             &log,
             &find_extension,
             &deadline_ns,
             &test::cancelled,
             &progress,
             &result,
             &fail_call,
             &idempotency_key};
    desk_files_ = {sizeof(daybook_desk_files),
                   0,
                   &read_file,
                   &list_files,
                   &append,
                   &replace,
                   &edit,
                   &read_lines};
    clock_ = {sizeof(daybook_clock), 0, &test::now_ns, &test::describe, &sessions_of};
    set_now(local);
}

FakeHost::~FakeHost() {
    if (instance_ != nullptr && plugin_->close != nullptr) {
        plugin_->close(instance_);
    }
    // The library stays: nothing is ever unloaded.
}

std::string FakeHost::open(const std::string& name, const std::string& config) {
    const std::string path =
        std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/plugins/1/" + name + ".so";
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
        throw std::runtime_error(dlerror());
    }
    using Entry = const daybook_plugin* (*)(std::uint32_t, std::uint32_t);
    const auto entry = reinterpret_cast<Entry>(dlsym(library_, "daybook_plugin_v1"));
    plugin_ = entry(DAYBOOK_ABI_MAJOR, DAYBOOK_ABI_MINOR);
    std::array<char, 512> error{};
    const auto status =
        plugin_->open(&host_, to_str(config), &instance_, error.data(), error.size());
    return status == DAYBOOK_OK ? std::string() : std::string(error.data());
}

Outcome FakeHost::call(const std::string& tool, const std::string& args, bool same_turn) {
    if (!same_turn) {
        shown.clear();
    }
    for (std::size_t i = 0; i < plugin_->tool_count; ++i) {
        if (tool == plugin_->tools[i]->name) {
            daybook_call call{this, {}};
            plugin_->tools[i]->call(instance_, &call, to_str(args));
            return call.outcome;
        }
    }
    throw std::runtime_error("the plugin has no tool " + tool);
}

Turn FakeHost::turn(const std::string& request) {
    Turn turn;
    const daybook_stream stream = {sizeof(daybook_stream),
                                   0,
                                   &turn,
                                   &stream_text,
                                   &stream_nothing,
                                   &stream_call,
                                   &stream_usage,
                                   &stream_nothing,
                                   &stream_compacted,
                                   &stream_end,
                                   &stream_error};
    daybook_call call{this, {}};
    plugin_->models[0]->turn(instance_, &call, to_str(request), &stream);
    turn.outcome = call.outcome;
    return turn;
}

void FakeHost::set_now(std::string_view local) {
    local_ = local;
    const auto at = candles::parse_instant(local_ + "+05:30");
    now_ns_ = std::chrono::nanoseconds(at.value()).count();
}

std::string FakeHost::describe() const {
    return json::ObjectWriter()
        .add("now", local_ + "+05:30")
        .add("day", local_.substr(0, 10))
        .add("zone", zone)
        .add("market", "open")
        .str();
}

daybook_status FakeHost::write(
    const std::string& path,
    const std::string& base,
    const std::function<daybook_status(std::string&, std::string&)>& change,
    bool needs_base,
    std::string& receipt) {
    if (refuse_writes) {
        receipt = refuse_writes->second;
        return refuse_writes->first;
    }
    const auto file = files.find(path);
    std::string content = file == files.end() ? std::string() : file->second;
    const std::string wanted = base.empty() && shown.contains(path) ? shown[path] : base;
    if (needs_base && file != files.end() && wanted != sha256_hex(content)) {
        receipt = wanted.empty() ? "never shown to this turn" : "the file changed";
        return DAYBOOK_CONFLICT;
    }
    if (const auto status = change(content, receipt); status != DAYBOOK_OK) {
        return status;
    }
    files[path] = content;
    shown[path] = sha256_hex(content);
    receipt = json::ObjectWriter()
                  .add("path", path)
                  .add("checkpoint", "c-" + std::to_string(++writes))
                  .add("sha256", shown[path])
                  .add("bytes", content.size())
                  .str();
    return DAYBOOK_OK;
}

}  // namespace daybook::test
