#include "host/format/config_programs.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "host/format/config_words.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;
using Kind = TomlNode::Kind;

constexpr std::int64_t kLastPort = 65535;
constexpr std::array<std::string_view, 8> kHostVariables{
    "PATH", "HOME", "TMPDIR", "LANG", "TZ", "IFS", "ENV", "BASH_ENV"};

/// Reads the members of one program's table.
class ProgramReader {
  public:
    ProgramReader(const TomlNode& table, const std::string& name, const ConfigProblem& problem)
        : table_(table), name_(name), problem_(problem) {}

    void check_keys(std::initializer_list<std::string_view> keys) const {
        for (const TomlMember& member : table_.members) {
            if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) {
                fail(member.key_place, unknown_key(member.key, keys));
            }
        }
    }
    const TomlNode* of_kind(std::string_view key, Kind kind, const char* expected) const {
        const TomlNode* node = table_.find(key);
        if (node != nullptr && node->kind != kind) {
            fail(node->place, std::string(key) + ": expected " + expected);
            return nullptr;
        }
        return node;
    }
    [[nodiscard]] std::vector<std::string> texts(std::string_view key) const {
        std::vector<std::string> out;
        const TomlNode* list = of_kind(key, Kind::list, "a list such as [\"a\", \"b\"]");
        for (const TomlNode& item : list != nullptr ? list->items : std::vector<TomlNode>()) {
            if (item.kind == Kind::text && item.text.find('\0') == std::string::npos) {
                out.push_back(item.text);
            } else {
                fail(item.place, std::string(key) + ": expected text in quotes");
            }
        }
        return out;
    }
    [[nodiscard]] std::vector<fs::path> paths(std::string_view key) const {
        std::vector<fs::path> out;
        for (const std::string& text : texts(key)) {
            if (!text.starts_with('/')) {
                fail(table_.find(key)->place, std::string(key) + ": expected absolute paths");
            }
            out.emplace_back(text);
        }
        return out;
    }
    [[nodiscard]] std::map<std::string, std::string> variables() const {
        std::map<std::string, std::string> out;
        const TomlNode* table = of_kind("env", Kind::table, "a table such as {NAME = \"text\"}");
        for (const TomlMember& member :
             table != nullptr ? table->members : std::vector<TomlMember>()) {
            if (!is_program_variable(member.key)) {
                fail(member.key_place, "env: " + printable(member.key, 80) + " may not be set");
            } else if (member.value.kind != Kind::text ||
                       member.value.text.find('\0') != std::string::npos) {
                fail(member.value.place, "env: expected text in quotes");
            }
            out[member.key] = member.value.text;
        }
        return out;
    }
    [[nodiscard]] std::vector<std::uint16_t> ports() const {
        std::vector<std::uint16_t> out;
        const TomlNode* list = of_kind("network", Kind::list, "a list of TCP ports such as [8443]");
        for (const TomlNode& item : list != nullptr ? list->items : std::vector<TomlNode>()) {
            if (item.kind == Kind::integer && item.integer > 0 && item.integer <= kLastPort) {
                out.push_back(static_cast<std::uint16_t>(item.integer));
            } else {
                fail(item.place, "network: expected TCP ports, from 1 to 65535");
            }
        }
        return out;
    }
    void fail(TomlPlace place, const std::string& what) const {
        problem_(place, "programs." + name_ + ": " + what);
    }

  private:
    const TomlNode& table_;
    const std::string& name_;
    const ConfigProblem& problem_;
};

ProgramConfig read_program(const std::string& name,
                           const TomlNode& table,
                           const ConfigProblem& problem) {
    const ProgramReader reader(table, name, problem);
    reader.check_keys(
        {"path", "args", "env", "reads", "runs", "network", "unconfined_network", "idle"});
    ProgramConfig program;
    program.name = name;
    const TomlNode* path = reader.of_kind("path", Kind::text, "an absolute path in quotes");
    if (path != nullptr) {
        program.path = path->text;
    }
    if (!program.path.is_absolute()) {
        reader.fail(path != nullptr ? path->place : table.place, "path: expected an absolute path");
    }
    program.arguments = reader.texts("args");
    program.environment = reader.variables();
    program.reads = reader.paths("reads");
    program.runs = reader.paths("runs");
    program.network = reader.ports();
    if (const TomlNode* flag =
            reader.of_kind("unconfined_network", Kind::boolean, "true or false")) {
        program.unconfined_network = flag->boolean;
    }
    if (const TomlNode* idle = reader.of_kind("idle", Kind::text, "a time such as \"10m\"")) {
        const auto value = parse_duration(idle->text);
        if (value && *value >= std::chrono::seconds(1) && *value <= std::chrono::hours(24 * 7)) {
            program.idle = std::chrono::duration_cast<std::chrono::seconds>(*value);
        } else {
            reader.fail(idle->place, "idle: expected a time such as \"60s\", \"10m\" or \"1h\"");
        }
    }
    return program;
}

}  // namespace

bool is_program_variable(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    constexpr std::size_t kMostLetters = 100;
    return !name.empty() && name.size() <= kMostLetters &&
           std::all_of(name.begin(), name.end(), fits) && !(name[0] >= '0' && name[0] <= '9') &&
           !name.starts_with("LD_") && !name.starts_with("GLIBC_") &&
           std::find(kHostVariables.begin(), kHostVariables.end(), name) == kHostVariables.end();
}

std::map<std::string, ProgramConfig> read_programs(const TomlNode& table,
                                                   const ConfigProblem& problem) {
    std::map<std::string, ProgramConfig> programs;
    if (table.kind != Kind::table) {
        problem(table.place, "programs: expected a table of programs");
        return programs;
    }
    for (const TomlMember& member : table.members) {
        if (!is_plain_name(member.key)) {
            problem(member.key_place,
                    "programs: \"" + printable(member.key, 80) + "\" is not a plain name");
        } else if (member.value.kind != Kind::table) {
            problem(member.value.place, "programs." + member.key + ": expected a table");
        } else {
            programs[member.key] = read_program(member.key, member.value, problem);
        }
    }
    return programs;
}

}  // namespace daybook
