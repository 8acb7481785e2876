// From TOML's tree to settings; toml_text.cpp reads the tree.
#include "host/format/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "host/format/config_words.hpp"
#include "host/format/toml_text.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kMaxQueue = 100'000;

using Keys = std::initializer_list<std::string_view>;

/// Collects every problem of the file, a line each: "daybook.toml:12:3: [host] ...".
class Problems {
  public:
    explicit Problems(std::string_view source_name) : source_(printable(source_name, 200)) {}

    void add(TomlPlace at, const std::string& table, const std::string& what) {
        text_ += (text_.empty() ? "" : "\n") + source_ + ":" + std::to_string(at.line) + ":" +
                 std::to_string(at.column) + ": " + (table.empty() ? "" : "[" + table + "] ") +
                 what;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string source_;
    std::string text_;
};

/// Reads one table's keys; whatever is wrong goes to the problems, and the setting keeps its
/// default.
class TableReader {
  public:
    TableReader(const TomlNode& table, std::string name, Problems& problems, Keys known)
        : table_(table), name_(std::move(name)), problems_(problems) {
        for (const TomlMember& member : table.members) {
            if (std::find(known.begin(), known.end(), member.key) == known.end()) {
                fail(member.key_place, unknown_key(member.key, known));
            }
        }
    }

    void fail(TomlPlace at, const std::string& what) { problems_.add(at, name_, what); }
    [[nodiscard]] ConfigProblem problem() {
        return [this](TomlPlace at, const std::string& what) { fail(at, what); };
    }
    /// At the key's value, or at the table when the key is missing.
    void fail_at(std::string_view key, const std::string& what) {
        const TomlNode* node = table_.find(key);
        fail(node != nullptr ? node->place : table_.place, std::string(key) + ": " + what);
    }
    [[nodiscard]] bool has(std::string_view key) const { return table_.find(key) != nullptr; }
    [[nodiscard]] const TomlNode* table(std::string_view key) {
        const TomlNode* node = table_.find(key);
        if (node != nullptr && node->kind != TomlNode::Kind::table) {
            fail_at(key, "expected a table");
            return nullptr;
        }
        return node;
    }

    void text(std::string_view key, std::string& out) {
        if (const TomlNode* node = table_.find(key)) {
            if (node->kind == TomlNode::Kind::text) {
                out = node->text;
            } else {
                fail_at(key, "expected text in quotes");
            }
        }
    }
    void boolean(std::string_view key, bool& out) {
        if (const TomlNode* node = table_.find(key)) {
            if (node->kind == TomlNode::Kind::boolean) {
                out = node->boolean;
            } else {
                fail_at(key, "expected true or false");
            }
        }
    }
    void integer(std::string_view key, std::int64_t low, std::int64_t high, std::int64_t& out) {
        if (const TomlNode* node = table_.find(key)) {
            if (node->kind == TomlNode::Kind::integer && node->integer >= low &&
                node->integer <= high) {
                out = node->integer;
            } else {
                fail_at(key,
                        "expected an integer from " + std::to_string(low) + " to " +
                            std::to_string(high));
            }
        }
    }
    /// A list of texts.
    void texts(std::string_view key, std::vector<std::string>& out) {
        const TomlNode* node = table_.find(key);
        if (node == nullptr) {
            return;
        }
        if (node->kind != TomlNode::Kind::list) {
            fail_at(key, "expected a list such as [\"a\", \"b\"]");
            return;
        }
        for (const TomlNode& item : node->items) {
            if (item.kind == TomlNode::Kind::text) {
                out.push_back(item.text);
            } else {
                fail(item.place, std::string(key) + ": expected text in quotes");
            }
        }
    }
    /// A list of plain names, none twice.
    void names(std::string_view key, std::vector<std::string>& out) {
        texts(key, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (!is_plain_name(out[i])) {
                fail_at(key, "\"" + printable(out[i], 80) + "\" is not a plain name");
            } else if (std::find(out.begin(),
                                 out.begin() + static_cast<std::ptrdiff_t>(i),
                                 out[i]) != out.begin() + static_cast<std::ptrdiff_t>(i)) {
                fail_at(key, "\"" + out[i] + "\" stands twice");
            }
        }
    }
    template <class Duration>
    void duration(std::string_view key, Duration low, Duration& out) {
        std::string written;
        if (!has(key)) {
            return;
        }
        text(key, written);
        const auto value = parse_duration(written);
        if (value && *value >= low && *value <= std::chrono::hours(24 * 7) &&
            *value % std::chrono::milliseconds(Duration(1)) == std::chrono::milliseconds(0)) {
            out = std::chrono::duration_cast<Duration>(*value);
        } else {
            fail_at(key, "expected a time such as \"250ms\", \"60s\", \"5m\" or \"1h\"");
        }
    }
    void size(std::string_view key, std::uint64_t& out) {
        std::string written;
        if (!has(key)) {
            return;
        }
        text(key, written);
        if (const auto value = parse_size(written)) {
            out = *value;
        } else {
            fail_at(key, "expected a size such as \"64MiB\"");
        }
    }
    /// A table of the plugin's own settings, as JSON.
    void settings(std::string_view key, Json& out) {
        if (const TomlNode* inner = table(key)) {
            out = to_json(*inner);
        }
    }

    Json to_json(const TomlNode& node) {
        Json out;
        switch (node.kind) {
            case TomlNode::Kind::table:
                out = Json::object();
                for (const TomlMember& member : node.members) {
                    out.append_member(member.key, to_json(member.value));
                }
                return out;
            case TomlNode::Kind::list:
                out = Json::array();
                for (const TomlNode& item : node.items) {
                    out.push(to_json(item));
                }
                return out;
            case TomlNode::Kind::text:
                return Json(node.text);
            case TomlNode::Kind::integer:
                return Json(node.integer);
            case TomlNode::Kind::boolean:
                return Json(node.boolean);
            case TomlNode::Kind::number:
                if (!std::isfinite(node.number)) {
                    fail(node.place, "a number must be finite");
                }
                return Json(node.number);
            case TomlNode::Kind::time:
                break;
        }
        fail(node.place, "write a date or time as text in quotes");
        return out;
    }

  private:
    const TomlNode& table_;
    std::string name_;
    Problems& problems_;
};

void read_host(const TomlNode& table, HostConfig& out, Problems& problems) {
    TableReader reader(table,
                       "host",
                       problems,
                       {"isolation",
                        "log_level",
                        "checkpoints",
                        "min_free",
                        "stop_grace",
                        "call_timeout",
                        "model_timeout",
                        "cancel_grace",
                        "desk_idle",
                        "runner_idle",
                        "scratch_max",
                        "queue_limit",
                        "replay_start"});
    std::string isolation(name_of(out.isolation));
    reader.text("isolation", isolation);
    for (const Isolation value : {Isolation::required, Isolation::seccomp_only, Isolation::off}) {
        out.isolation = isolation == name_of(value) ? value : out.isolation;
    }
    if (isolation != name_of(out.isolation)) {
        reader.fail_at("isolation", "expected \"required\", \"seccomp-only\" or \"off\"");
    }
    reader.text("log_level", out.log_level);
    constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
    if (std::find(kLevels.begin(), kLevels.end(), out.log_level) == kLevels.end()) {
        reader.fail_at("log_level", "expected \"debug\", \"info\", \"warn\" or \"error\"");
    }
    reader.text("checkpoints", out.checkpoints);
    if (out.checkpoints != "plain" && out.checkpoints != "journalled") {
        reader.fail_at("checkpoints", "expected \"plain\" or \"journalled\"");
    }
    using std::chrono::milliseconds;
    using std::chrono::seconds;
    reader.size("min_free", out.min_free_bytes);
    reader.size("scratch_max", out.scratch_max_bytes);
    reader.duration("stop_grace", seconds(0), out.stop_grace);
    reader.duration("call_timeout", milliseconds(1), out.call_timeout);
    reader.duration("model_timeout", milliseconds(1), out.model_timeout);
    reader.duration("cancel_grace", milliseconds(1), out.cancel_grace);
    reader.duration("desk_idle", seconds(1), out.desk_idle);
    reader.duration("runner_idle", seconds(1), out.runner_idle);
    auto limit = static_cast<std::int64_t>(out.queue_limit);
    reader.integer("queue_limit", 1, kMaxQueue, limit);
    out.queue_limit = static_cast<std::size_t>(limit);
    if (reader.has("replay_start")) {
        std::string start;
        reader.text("replay_start", start);
        if (auto at = parse_rfc3339(start); !at) {
            reader.fail_at("replay_start", at.error().message());
        }
        out.replay_start = start;
    }
}

PluginConfig read_plugin(const std::string& name, const TomlNode& table, Problems& problems) {
    TableReader reader(
        table, "plugin." + name, problems, {"file", "enabled", "origins", "programs", "config"});
    PluginConfig plugin;
    plugin.name = name;
    reader.text("file", plugin.file);
    if (!plugin.file.starts_with('/') && plugin.file.find('/') != std::string::npos) {
        reader.fail_at("file", "expected a file name on the plugin path, or an absolute path");
    }
    reader.boolean("enabled", plugin.enabled);
    if (const TomlNode* origins = table.find("origins")) {
        plugin.origins = read_origins(*origins, reader.problem());
    }
    if (const TomlNode* programs = table.find("programs")) {
        plugin.programs = read_programs(*programs, reader.problem());
    }
    reader.settings("config", plugin.config);
    return plugin;
}

ModelConfig read_model(const std::string& name, const TomlNode& table, Problems& problems) {
    TableReader reader(table,
                       "model." + name,
                       problems,
                       {"plugin",
                        "model",
                        "url",
                        "credential",
                        "credential_header",
                        "private_network",
                        "window",
                        "config"});
    ModelConfig model;
    model.name = name;
    reader.text("plugin", model.plugin);
    if (!is_plain_name(model.plugin)) {
        reader.fail_at("plugin", "expected the name of the plugin that serves this model");
    }
    reader.text("model", model.model);
    reader.text("url", model.url);
    OriginConfig access;
    access.url = model.url;
    read_access(table, access, reader.problem());
    model.credential = access.credential;
    model.credential_header = access.credential_header;
    model.private_network = access.private_network;
    if (const std::string wrong = model.url.empty() ? "" : url_problem(access); !wrong.empty()) {
        reader.fail_at("url", wrong);
    }
    reader.integer("window", 0, 100'000'000, model.window);
    reader.settings("config", model.config);
    return model;
}

void read_desk_config(TableReader& desk_reader, DeskConfig& desk) {
    const TomlNode* table = desk_reader.table("config");
    if (table == nullptr) {
        return;
    }
    for (const auto& [key, key_place, node] : table->members) {
        if (node.kind != TomlNode::Kind::table) {
            desk_reader.fail(node.place,
                             "config." + printable(key, 80) + ": expected a table, [desk." +
                                 desk.name + ".config.PLUGIN]");
            continue;
        }
        desk.plugin_config[key] = desk_reader.to_json(node);
    }
}

DeskConfig read_desk(const std::string& name, const TomlNode& table, Problems& problems) {
    TableReader reader(
        table,
        "desk." + name,
        problems,
        {"zone", "calendar", "rollover", "models", "plugins", "reads", "instructions", "config"});
    DeskConfig desk;
    desk.name = name;
    reader.text("zone", desk.zone);
    if (reader.has("zone") && !is_zone_name(desk.zone)) {
        reader.fail_at("zone", "expected a time zone such as \"Asia/Kolkata\"");
    }
    reader.text("calendar", desk.calendar);
    if (!is_plain_name(desk.calendar)) {
        reader.fail_at("calendar", "expected a calendar's name such as \"nse\"");
    }
    if (reader.has("rollover")) {
        std::string written;
        reader.text("rollover", written);
        auto time = TimeOfDay::parse(written);
        if (!time || time->minutes >= 24 * 60) {
            reader.fail_at("rollover", "expected a time from \"00:00\" to \"23:59\"");
        } else {
            desk.rollover = *time;
        }
    }
    reader.names("models", desk.models);
    reader.names("plugins", desk.plugins);
    std::vector<std::string> folders;
    reader.texts("reads", folders);
    for (const std::string& folder : folders) {
        const std::filesystem::path path(folder);
        if (!path.is_absolute() || path.lexically_normal() == "/" ||
            folder.find('\0') != std::string::npos) {
            reader.fail_at("reads",
                           "\"" + printable(folder) + "\" is not the absolute path of a folder");
        }
        desk.reads.push_back(path.lexically_normal());
    }
    reader.text("instructions", desk.instructions);
    read_desk_config(reader, desk);
    return desk;
}

/// Why nothing of that kind may have the name, though it is a plain one; "" when it may.
std::string_view taken_by_host(std::string_view kind, std::string_view name) {
    // A plugin's records stand in the journal under its name, their keys behind it: these names are
    // the host's own there.
    constexpr std::array<std::string_view, 6> kInJournal = {
        "host", "intent", "outcome", "rollover", "trigger", "write"};
    const bool taken =
        kind == "plugin" ? std::find(kInJournal.begin(), kInJournal.end(), name) != kInJournal.end()
                         : kind == "desk" && name == "_host";
    return taken ? " is a name of the host's own; use another" : "";
}

/// Calls `read` for each [kind.NAME].
template <class Read>
void each_named(const TomlNode& root, std::string_view kind, Problems& problems, const Read& read) {
    const TomlNode* node = root.find(kind);
    if (node == nullptr) {
        return;
    }
    if (node->kind != TomlNode::Kind::table) {
        problems.add(node->place,
                     "",
                     std::string(kind) + ": expected tables, [" + std::string(kind) + ".NAME]");
        return;
    }
    for (const auto& [name, key_place, inner] : node->members) {
        if (!is_plain_name(name)) {
            problems.add(
                key_place,
                std::string(kind),
                "\"" + printable(name, 80) + "\" is not a plain name ([A-Za-z0-9._-], at most 64)");
        } else if (const auto why = taken_by_host(kind, name); !why.empty()) {
            problems.add(key_place, std::string(kind), "\"" + name + "\"" + std::string(why));
        } else if (inner.kind != TomlNode::Kind::table) {
            problems.add(inner.place,
                         std::string(kind),
                         name + ": expected a table, [" + std::string(kind) + "." + name + "]");
        } else {
            read(name, inner);
        }
    }
}

/// A desk's names must lead somewhere.
void check_desk(const DeskConfig& desk, Config& config, const TomlNode& table, Problems& problems) {
    const std::string where = "desk." + desk.name;
    std::vector<std::string_view> known;
    for (const auto& [name, model] : config.models) {
        known.push_back(name);
    }
    std::vector<std::string> plugins = desk.plugins;
    for (const std::string& name : desk.models) {
        const auto model = config.models.find(name);
        if (model != config.models.end()) {
            plugins.push_back(model->second.plugin);
            continue;
        }
        const std::string_view near = nearest(name, known);
        problems.add(
            table.find("models")->place,
            where,
            "models: there is no [model." + name + "]" +
                (near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?"));
    }
    for (const auto& [name, settings] : desk.plugin_config) {
        if (std::find(plugins.begin(), plugins.end(), name) == plugins.end()) {
            problems.add(table.find("config")->find(name)->place,
                         where,
                         "config." + printable(name, 80) + ": the desk lists no such plugin");
        }
    }
    for (const std::string& name : plugins) {
        if (const auto why = taken_by_host("plugin", name); !why.empty()) {
            problems.add(table.place, where, "plugin \"" + name + "\"" + std::string(why));
        }
        const auto plugin = config.plugins.find(name);
        if (plugin != config.plugins.end() && !plugin->second.enabled) {
            config.warnings.push_back("desk " + desk.name + " uses plugin " + name +
                                      ", which is not enabled");
        }
    }
    if (desk.models.empty()) {
        config.warnings.push_back("desk " + desk.name + " lists no model: its triggers will wait");
    }
}

}  // namespace

Result<Config> Config::parse(std::string_view text, std::string_view source_name) {
    Problems problems(source_name);
    const auto root = parse_toml(text, source_name);
    if (!root) {
        return root.error();
    }
    TableReader top(*root, "", problems, {"host", "plugin", "model", "desk"});
    Config config;
    if (const TomlNode* host = top.table("host")) {
        read_host(*host, config.host, problems);
    }
    each_named(*root, "plugin", problems, [&](const std::string& name, const TomlNode& table) {
        config.plugins.emplace(name, read_plugin(name, table, problems));
    });
    each_named(*root, "model", problems, [&](const std::string& name, const TomlNode& table) {
        config.models.emplace(name, read_model(name, table, problems));
    });
    each_named(*root, "desk", problems, [&](const std::string& name, const TomlNode& table) {
        config.desks.emplace(name, read_desk(name, table, problems));
    });
    for (const auto& [name, desk] : config.desks) {
        check_desk(desk, config, *root->find("desk")->find(name), problems);
    }
    if (config.desks.empty()) {
        config.warnings.emplace_back("no desk is configured");
    }
    if (!problems.text().empty()) {
        return Error(Errc::invalid, problems.text());
    }
    return config;
}

}  // namespace daybook
