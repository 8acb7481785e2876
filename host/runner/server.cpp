#include "host/runner/server.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

#include <daybook/ext/maintenance.h>
#include <daybook/json.hpp>

#include "host/runner/exit_codes.hpp"
#include "host/runner/start_report.hpp"

namespace daybook::runner {
namespace {

constexpr std::size_t kMaxQueued =
    256;  // more waiting calls than a host ever has; the rest are refused as busy
constexpr std::size_t kErrorBytes = 1024;

daybook_str text_of(const std::string& text) {
    return {text.data(), text.size()};
}

template <class Element>
const Element* find_named(const Element* const* elements,
                          std::size_t count,
                          const std::string& name) {
    for (std::size_t i = 0; i < count; ++i) {
        if (name == elements[i]->name) {
            return elements[i];
        }
    }
    return nullptr;
}

/// A text member of a JSON object; the whole text when it is no object.
std::string member_or_whole(const std::string& arguments, std::string_view key) {
    try {
        return json::ObjectReader(arguments).text(key);
    } catch (const std::invalid_argument&) {
        return arguments;
    }
}

std::string usage_json(const daybook_usage& usage) {
    return json::ObjectWriter()
        .add("input", usage.input)
        .add("output", usage.output)
        .add("cache_read", usage.cache_read)
        .add("cache_write", usage.cache_write)
        .add("exact", usage.exact != 0)
        .str();
}

Error malformed(const char* what) {
    return Error(Errc::plugin_protocol, std::string("malformed message: ") + what);
}

}  // namespace

Server::Server(int socket,
               HostLink& link,
               const daybook_plugin& plugin,
               std::vector<std::string> wants)
    : link_(link),
      plugin_(plugin),
      context_{link_, calls_, std::move(wants), {}, {}, 0, 0},
      reader_(socket, [this](channel::Message message) { return take(std::move(message)); }) {}

// --- whoever reads ---

void Server::run() {
    link_.read_answers_with(reader_);
    std::thread(&Server::work, this)
        .detach();  // the process ends with the channel, whatever the worker is doing
    reader_.stand_by();
}

Result<> Server::take(channel::Message message) {
    switch (message.type) {
        case channel::MessageType::call:
            return take_call(std::move(message));
        case channel::MessageType::verb_reply:
            return take_reply(message);
        case channel::MessageType::cancel:
            cancel(message.call);
            return {};
        case channel::MessageType::open:
        case channel::MessageType::drain:
        case channel::MessageType::close:
            enqueue({std::move(message), nullptr});
            return {};
        case channel::MessageType::ready:
        case channel::MessageType::opened:
        case channel::MessageType::start_failed:
        case channel::MessageType::verb:
        case channel::MessageType::result:
        case channel::MessageType::failure:
        case channel::MessageType::log:
        case channel::MessageType::progress:
        case channel::MessageType::event:
        case channel::MessageType::drained:
            break;
    }
    return malformed("a type that only a runner sends");
}

Result<> Server::take_call(channel::Message message) {
    channel::FieldReader fields(message.payload);
    const bool texts = fields.next() && fields.next() && fields.next();
    const auto deadline = fields.next_number();
    const auto key = fields.next();
    if (!texts || !deadline || !key || message.call == 0) {
        return malformed("call");
    }
    auto call = calls_.add(message.call, *deadline, std::string(*key));
    {
        const std::scoped_lock lock(mutex_);
        if (queue_.size() < kMaxQueued) {
            queue_.push_back({std::move(message), std::move(call)});
            return {};
        }
    }
    fail(*call, DAYBOOK_BUSY, "the plugin has " + std::to_string(kMaxQueued) + " calls waiting");
    calls_.remove(call->id);
    static_cast<void>(link_.send_last(*call, *call->take_outcome()));
    return {};
}

Result<> Server::take_reply(const channel::Message& message) {
    channel::FieldReader fields(message.payload);
    const auto request = fields.next_number();
    const auto status = fields.next_number();
    const auto body = fields.next();
    if (!request || !status || !body) {
        return malformed("verb_reply");
    }
    link_.answer(*request, {static_cast<daybook_status>(*status), std::string(*body)});
    return {};
}

void Server::cancel(channel::CallId id) {
    const auto call = calls_.find(id);
    if (!call) {
        return;  // it has just ended
    }
    call->cancelled = true;
    // Not here: the worker may be the one that reads, in the middle of a verb of this very call.
    reader_.run_on_standby([this, call] {
        const daybook_model* model = call->running_model;
        if (model != nullptr && model->cancel != nullptr) {
            model->cancel(instance_, CallTable::handle_of(call->id));
        }
    });
}

void Server::enqueue(Work work) {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
}

std::optional<Server::Work> Server::take_queued() {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) {
        return std::nullopt;
    }
    Work next = std::move(queue_.front());
    queue_.pop_front();
    return next;
}

// --- worker ---

void Server::work() {
    while (true) {
        std::optional<Work> next;
        reader_.read_until([&] {
            next = take_queued();
            return next.has_value();
        });
        reader_.enter_plugin();
        run(*next);
        reader_.leave_plugin();
    }
}

void Server::run(Work& work) {
    if (work.call) {
        run_call(work);
    } else if (work.message.type == channel::MessageType::open) {
        open(work.message);
    } else if (work.message.type == channel::MessageType::drain) {
        drain();
    } else {
        close();
    }
}

void Server::open(const channel::Message& message) {
    channel::FieldReader fields(message.payload);
    const std::string config(fields.next().value_or("{}"));
    fields.next();  // the desk's name is on the command line too
    context_.host_version = fields.next().value_or("");
    const daybook_host* host = install_host_tables(context_);
    std::array<char, kErrorBytes> error{};
    daybook_status status = DAYBOOK_OK;
    if (plugin_.open != nullptr) {
        status = plugin_.open(host, text_of(config), &instance_, error.data(), error.size());
    }
    if (status != DAYBOOK_OK) {
        const std::string why(error.data(), ::strnlen(error.data(), error.size()));
        report_start_failure(
            link_, "open", Error(errc_of(status), why.empty() ? "the plugin gave no reason" : why));
        ::_exit(kExitOpen);
    }
    is_open_ = true;
    static_cast<void>(link_.send({channel::MessageType::opened, 0, {}}));
}

void Server::run_call(Work& work) {
    channel::FieldReader fields(work.message.payload);
    const std::string kind(*fields.next());  // take_call has seen all of them
    const std::string name(*fields.next());
    const std::string arguments(*fields.next());
    LiveCall& call = *work.call;
    context_.running = call.id;
    daybook_status status = DAYBOOK_OK;
    if (!is_open_) {
        status = fail(call, DAYBOOK_UNAVAILABLE, "the plugin is not open yet");
    } else if (call.stop_reason() != DAYBOOK_OK) {
        status = fail(call, call.stop_reason(), "the call ended before it began");
    } else {
        status = kind == "tool"                           ? run_tool(name, arguments, call)
                 : kind == "health" || kind == "maintain" ? run_maintenance(kind, call)
                                                          : run_model(kind, name, arguments, call);
    }
    // From here on the plugin's pointer is worth nothing; only then does the host learn that the
    // call is over.
    calls_.remove(call.id);
    context_.running = 0;
    fail(call,
         status == DAYBOOK_OK ? DAYBOOK_INTERNAL : status,
         "the plugin returned no result");  // unless it did
    const auto sent = link_.send_last(call, *call.take_outcome());
    link_.abandon(call.id);  // whoever of the plugin's threads still waits
    if (!sent && sent.error().code() == Errc::unavailable) {
        ::_exit(0);
    }
}

daybook_status Server::run_tool(const std::string& name,
                                const std::string& arguments,
                                LiveCall& call) {
    const daybook_tool* tool = find_named(plugin_.tools, plugin_.tool_count, name);
    if (tool == nullptr) {
        return fail(call, DAYBOOK_NOT_FOUND, "this plugin has no tool named " + name);
    }
    return tool->call(instance_, CallTable::handle_of(call.id), text_of(arguments));
}

daybook_status Server::run_maintenance(const std::string& kind, LiveCall& call) {
    const auto* maintenance = plugin_.get_extension == nullptr
                                  ? nullptr
                                  : static_cast<const daybook_maintenance*>(
                                        plugin_.get_extension(DAYBOOK_EXT_MAINTENANCE));
    daybook_call* handle = CallTable::handle_of(call.id);
    if (kind == "health" && DAYBOOK_HAS(daybook_maintenance, maintenance, health)) {
        return maintenance->health(instance_, handle);
    }
    if (kind == "maintain" && DAYBOOK_HAS(daybook_maintenance, maintenance, maintain)) {
        return maintenance->maintain(instance_, handle);
    }
    return fail(call, DAYBOOK_UNSUPPORTED, "this plugin does not offer " + kind);
}

daybook_status Server::run_model(const std::string& kind,
                                 const std::string& name,
                                 const std::string& arguments,
                                 LiveCall& call) {
    const daybook_model* model = find_named(plugin_.models, plugin_.model_count, name);
    if (model == nullptr) {
        return fail(call, DAYBOOK_NOT_FOUND, "this plugin has no model named " + name);
    }
    // First known, then looked at: a cancel either finds the model here or is seen on the next
    // line.
    call.running_model = model;
    const daybook_status stop = call.stop_reason();
    const daybook_status status = stop == DAYBOOK_OK
                                      ? enter_model(kind, *model, arguments, call)
                                      : fail(call, stop, "the call ended before it began");
    call.running_model = nullptr;
    return status;
}

daybook_status Server::enter_model(const std::string& kind,
                                   const daybook_model& model,
                                   const std::string& arguments,
                                   LiveCall& call) {
    daybook_call* handle = CallTable::handle_of(call.id);
    if (kind == "model.turn") {
        const daybook_stream stream = stream_of(call.id);
        return model.turn(instance_, handle, text_of(arguments), &stream);
    }
    if (kind == "model.ready") {
        return model.ready(instance_, handle);
    }
    if (kind == "model.window") {
        const std::string which = member_or_whole(arguments, "model");
        const std::int64_t window =
            model.context_window == nullptr ? 0 : model.context_window(instance_, which.c_str());
        succeed(call, json::ObjectWriter().add("window", window).str());
        return DAYBOOK_OK;
    }
    if (kind == "model.compact" && model.compact != nullptr) {
        const daybook_stream stream = stream_of(call.id);
        return model.compact(
            instance_, handle, text_of(member_or_whole(arguments, "instruction")), &stream);
    }
    if (kind == "model.count" && model.count_tokens != nullptr) {
        daybook_usage usage{sizeof(daybook_usage), 0, -1, -1, -1, -1};
        const daybook_status status =
            model.count_tokens(instance_, handle, text_of(arguments), &usage);
        if (status == DAYBOOK_OK) {
            succeed(call, usage_json(usage));
        }
        return status;
    }
    return fail(call, DAYBOOK_UNSUPPORTED, std::string(model.name) + " does not offer " + kind);
}

daybook_status Server::fail(LiveCall& call, daybook_status status, const std::string& message) {
    channel::FieldWriter fields;
    fields.add_number(status)
        .add_number(is_retryable(errc_of(status)) ? 1 : 0)
        .add(message)
        .add({});
    call.settle({channel::MessageType::failure, call.id, fields.take()});
    return status;
}

void Server::succeed(LiveCall& call, const std::string& json) {
    channel::FieldWriter fields;
    fields.add(json);
    call.settle({channel::MessageType::result, call.id, fields.take()});
}

void Server::drain() {
    if (is_open_ && plugin_.drain != nullptr) {
        plugin_.drain(instance_);
    }
    static_cast<void>(link_.send({channel::MessageType::drained, 0, {}}));
}

void Server::close() {
    if (is_open_ && plugin_.close != nullptr) {
        plugin_.close(instance_);
    }
    // Without static destructors: threads that the plugin left behind must not meet them.
    ::_exit(0);
}

}  // namespace daybook::runner
