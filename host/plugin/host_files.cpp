// desk-files/1: reading is told to the gate, writing is asked of it.
#include <charconv>
#include <optional>
#include <utility>

#include <daybook/json.hpp>

#include "host/format/sha256.hpp"
#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/host_verbs.hpp"

namespace daybook::verbs {
namespace {

struct WriteVerb {
    FileOperation operation = kAppend;
    std::size_t arguments = 0;
    std::string_view rule_name;
};

/// A verb on the desk's files.
struct FilesCall : VerbCall {
    /// Where a reading of the file is remembered.
    [[nodiscard]] ShownFiles& shown_by_reading(const DeskPath& path) const {
        return leash.file && leash.file->path == path ? own_shown : context.shown;
    }
};

Result<WriteReceipt> write_through_gate(const FilesCall& call,
                                        const WriteContext& where,
                                        const WriteRequest& request) {
    const VerbContext& context = call.context;
    const auto own_base = call.own_shown.find(request.path);
    if (!own_base) {
        return context.gate.write(call.leash, context.allowance, context.shown, where, request);
    }
    auto receipt =
        context.gate.write(call.leash, context.allowance, call.own_shown, where, request);
    if (receipt) {
        // The turn knows of the change, and of the content no more than before.
        context.shown.remember_change(request.path, *own_base, receipt->sha256);
    }
    return receipt;
}

Result<std::string> write_file(const FilesCall& call,
                               const WriteVerb& what,
                               const Arguments& arguments) {
    const VerbContext& context = call.context;
    const Leash& leash = call.leash;
    if (auto count = want_count(call.verb, arguments, what.arguments); !count) {
        return count.error();
    }
    const auto path = DeskPath::parse(arguments[0]);
    if (!path) {
        // A name that never reaches the gate is a refusal of memory all the same: journalled like
        // one.
        JournalEntry entry;
        entry.type = "write_refused";
        entry.by = leash.plugin;
        entry.session = context.session;
        entry.turn = context.turn;
        entry.data = Json::object();
        entry.data.set("path", mask_secrets(printable(arguments[0])))
            .set("op", what.rule_name)
            .set("rule", "path")
            .set("text", mask_secrets(path.error().message()));
        if (auto written = context.journal.append(std::move(entry)); !written) {
            return written.error().during("journal the refusal of a write");
        }
        return Error(Errc::refused, path.error().message());
    }
    WriteRequest request{*path, what.operation, arguments[1], arguments[2], "", arguments.back()};
    if (what.operation == kEdit) {
        request.old_text = arguments[2];
        request.text = arguments[3];
    }
    Json in_force = leash.to_json(context.clock.steady());
    if (context.clock.is_replayed()) {
        in_force.set("deadline_ms", Json());  // real time has no place in a replayed day's record
    }
    const WriteContext where{
        context.session, context.turn, leash.tool, leash.label, leash.plugin, std::move(in_force)};
    auto receipt = write_through_gate(call, where, request);
    if (!receipt) {
        return receipt.error();
    }
    call.outcome.writes.push_back(*receipt);
    return receipt->to_json().dump();
}

/// A number from 0 on.
std::optional<std::size_t> count_in(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

Result<std::string> read_lines(const FilesCall& call, const Arguments& arguments) {
    if (auto count = want_count(call.verb, arguments, 4); !count) {
        return count.error();
    }
    const auto path = DeskPath::parse(arguments[0]);
    if (!path) {
        return path.error();
    }
    const auto first_line = count_in(arguments[1]);
    const auto max_lines = count_in(arguments[2]);
    const auto max_bytes = count_in(arguments[3]);
    if (!first_line || *first_line == 0 || !max_lines || !max_bytes) {
        return invalid(call.verb, "lines count from 1, a limit from 0 (none)");
    }
    std::string content;
    ShownFiles& shown = call.shown_by_reading(*path);
    auto lines = call.context.gate.read_lines(
        shown, *path, LineRange{*first_line, *max_lines, *max_bytes}, content);
    if (!lines) {
        return lines.error();
    }
    const bool is_text = is_utf8(lines->text);
    if (!is_text) {
        shown.mark_partial(*path);  // what is no text is not shown as it is
    }
    // The SDK's writer gives JSON for any bytes.
    return json::ObjectWriter()
        .add("text", lines->text)
        .add("first_line", lines->first_line)
        .add("lines", lines->lines)
        .add("total_lines", lines->total_lines)
        .add("bytes", content.size())
        .add("sha256", sha256_hex(content))
        .add("whole", is_text && lines->text.size() == content.size())
        .add("cut_in_line", lines->cut_in_line)
        .str();
}

}  // namespace

Result<std::string> serve_files(const VerbCall& request, const Arguments& arguments) {
    const FilesCall call{request};
    const std::string_view function = call.function;
    const VerbContext& context = call.context;
    if (function == "append") {
        return write_file(call, {kAppend, 4, "append"}, arguments);
    }
    if (function == "replace") {
        return write_file(call, {kReplace, 4, "replace"}, arguments);
    }
    if (function == "edit") {
        return write_file(call, {kEdit, 5, "edit"}, arguments);
    }
    if (function == "read_lines") {
        return read_lines(call, arguments);
    }
    if (function != "read" && function != "list") {
        return not_served(call.verb);
    }
    if (auto count = want_count(call.verb, arguments, 1); !count) {
        return count.error();
    }
    if (function == "read") {
        const auto path = DeskPath::parse(arguments[0]);
        return path ? context.gate.read(call.shown_by_reading(*path), *path)
                    : Result<std::string>(path.error());
    }
    auto listed = context.gate.list(arguments[0]);
    if (!listed) {
        return listed.error();
    }
    Json out = Json::array();
    for (const auto& file : *listed) {
        Json one = Json::object();
        one.set("path", file.path)
            .set("bytes", static_cast<std::int64_t>(file.bytes))
            .set("own", file.own);
        out.push(std::move(one));
    }
    return out.dump();
}

}  // namespace daybook::verbs
