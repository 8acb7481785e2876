// The desk's memory tools: add_note, read_file, list_files, write_file, edit_file.
//
// They hold no rule of their own about what may be written: each write is a request, and the host's
// gate decides. write_file and edit_file never read the file first: the request would then rest on
// what they read, and hide that the owner changed the file since the model saw it. read_file asks
// for the lines that it shows, so that the host knows how much of the file the model has seen.
#include <string>
#include <string_view>
#include <vector>

#include <daybook/plugin.hpp>

#include "plugins/memory/cut_text.hpp"
#include "plugins/memory/edit_match.hpp"
#include "plugins/memory/note.hpp"

namespace daybook::memory {

namespace {

constexpr std::size_t kMaxListed = 200;
constexpr std::size_t kMaxReasonBytes = 120;
constexpr std::size_t kMaxShownBytes = 16 * 1024;

/// The reason that stands in the checkpoint: one short line.
std::string reason_of(std::string_view what, std::string_view text) {
    const std::string line = fold_to_line(text);
    const auto shown = cut_to_bytes(line, kMaxReasonBytes);
    return std::string(what) + std::string(shown) + (shown.size() < line.size() ? "…" : "");
}

/// A refusal in words the model can act on; the host's own sentence stays in it.
[[noreturn]] void rethrow_for_model(const PluginError& error, const std::string& path) {
    if (error.status() == DAYBOOK_CONFLICT) {
        throw PluginError(DAYBOOK_CONFLICT,
                          path + " is not as you last read it in this turn (" + error.what() +
                              "); nothing was written: read it again, then repeat the change",
                          false,
                          error.detail());
    }
    throw error;
}

std::string add_note(Call call, std::string_view args) {
    const json::ObjectReader in(args);
    const std::string text = fold_to_line(in.text("text"));
    const std::string quote = fold_to_line(in.text("quote"));
    const std::size_t length = count_characters(text);
    if (length == 0 || length > kMaxNoteCharacters ||
        count_characters(quote) > kMaxNoteCharacters) {
        throw PluginError(DAYBOOK_INVALID,
                          "add_note: text must have 1 to 2,000 characters, found " +
                              std::to_string(length) + "; a quote at most 2,000");
    }
    const std::string described = call.describe_clock();
    const json::ObjectReader clock(described);
    const std::string path = "notes/" + clock.text("day") + ".md";
    std::string notes;
    try {
        notes = call.read(path);
    } catch (const PluginError& error) {
        if (error.status() != DAYBOOK_NOT_FOUND) {  // the day's first note makes the file
            throw;
        }
    }
    if (const auto earlier = find_note(notes, text)) {
        throw PluginError(DAYBOOK_REFUSED,
                          "add_note: " + path + " says exactly that already, on line " +
                              std::to_string(earlier->line) +
                              (earlier->minute.empty() ? "" : ", noted at " + earlier->minute) +
                              "; nothing was written");
    }
    return call.append(
        path, format_note(minute_of(clock.text("now")), text, quote), reason_of("note: ", text));
}

std::string read_file(Call call, std::string_view args) {
    const json::ObjectReader in(args);
    const std::string path = in.text("path");
    const auto from = in.integer("from_line", 1);
    const auto count = in.integer("max_lines", 0);
    if (from < 1 || count < 0) {
        throw PluginError(DAYBOOK_INVALID, "read_file: from_line counts from 1, max_lines from 1");
    }
    const std::string answer =
        call.read_lines(path, from, count, static_cast<std::int64_t>(kMaxShownBytes));
    const json::ObjectReader part(answer);
    const auto lines = part.integer("total_lines");
    const auto to = from + part.integer("lines") - 1;
    json::ObjectWriter out;
    out.add("path", path)
        .add("sha256", part.text("sha256"))
        .add("bytes", part.integer("bytes"))
        .add("lines", lines)
        .add("from_line", from)
        .add("to_line", to)
        .add("text", part.text("text"));
    if (part.boolean("cut_in_line")) {
        out.add("more",
                "line " + std::to_string(to) +
                    " is longer than what is shown at once; its rest is not shown");
    } else if (to < lines) {
        out.add("more", "read on with from_line " + std::to_string(to + 1));
    }
    return out.str();
}

std::string list_files(Call call, std::string_view args) {
    const std::string folder = json::ObjectReader(args).text("folder");
    const std::string listed = call.list(folder);
    const auto files = json::items_of(listed);
    json::ArrayWriter shown;
    for (std::size_t i = 0; i < files.size() && i < kMaxListed; ++i) {
        shown.add_raw(files[i]);
    }
    json::ObjectWriter out;
    out.add("folder", folder).add_raw("files", shown.str());
    if (files.size() > kMaxListed) {
        out.add("more",
                std::to_string(files.size() - kMaxListed) +
                    " more files are not shown; name a folder to see fewer");
    }
    return out.str();
}

std::string write_file(Call call, std::string_view args) {
    const json::ObjectReader in(args);
    const std::string path = in.text("path");
    try {
        return call.replace(
            path, in.text("text"), reason_of("write ", path), in.text("base_sha256"));
    } catch (const PluginError& error) {
        rethrow_for_model(error, path);
    }
}

struct Edit {
    std::string old_text;
    std::string new_text;
};

std::vector<Edit> edits_of(const json::ObjectReader& in) {
    std::vector<Edit> edits;
    if (in.has("old_text") || in.has("new_text")) {
        edits.push_back({in.text("old_text"), in.text("new_text")});
    }
    const auto list = in.raw("edits");
    for (const auto item : json::items_of(list.empty() ? "[]" : list)) {
        const json::ObjectReader edit(item);
        edits.push_back({edit.text("old_text"), edit.text("new_text")});
    }
    for (const auto& edit : edits) {
        if (edit.old_text.empty() || edit.old_text == edit.new_text) {
            throw PluginError(DAYBOOK_INVALID,
                              edit.old_text.empty()
                                  ? "edit_file: old_text is empty; copy the text to be exchanged"
                                  : "edit_file: old_text and new_text are the same");
        }
    }
    if (edits.empty()) {
        throw PluginError(DAYBOOK_INVALID, "edit_file: give old_text and new_text, or edits");
    }
    return edits;
}

/// One exchange. A text that does not match exactly once is explained from the file, which a
/// conflict is not: that file the turn must read again itself.
std::string apply_edit(Call call,
                       const std::string& path,
                       const Edit& edit,
                       std::string_view base) {
    try {
        return call.edit(path,
                         edit.old_text,
                         edit.new_text,
                         reason_of("edit ", path + ": " + edit.new_text),
                         base);
    } catch (const PluginError& error) {
        if (error.status() != DAYBOOK_INVALID) {
            rethrow_for_model(error, path);
        }
        std::string why;
        try {
            why = explain_mismatch(path, call.read(path), edit.old_text);
        } catch (const PluginError&) {  // the host's own sentence must do
        }
        throw PluginError(DAYBOOK_INVALID, why.empty() ? error.what() : why, false, error.detail());
    }
}

std::string edit_file(Call call, std::string_view args) {
    const json::ObjectReader in(args);
    const std::string path = in.text("path");
    const auto edits = edits_of(in);
    std::string receipt;
    std::string done;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        call.check();
        try {
            receipt = apply_edit(call, path, edits[i], i == 0 ? in.text("base_sha256") : "");
        } catch (const PluginError& error) {
            if (i == 0) {
                throw;
            }
            throw PluginError(error.status(),
                              "edit " + std::to_string(i + 1) + " of " +
                                  std::to_string(edits.size()) + " was not made: " + error.what() +
                                  "; those before it stand (checkpoints " + done + ")",
                              error.retryable(),
                              error.detail());
        }
        done += (i == 0 ? "" : ", ") + json::ObjectReader(receipt).text("checkpoint");
    }
    return receipt;
}

constexpr const char* kGroups = DAYBOOK_EXT_DESK_FILES " " DAYBOOK_EXT_CLOCK;

constexpr auto kAddNote = tool<add_note>(
    "add_note",
    "Adds one lesson or fact to today's notes, as one line with the time. Say it so "
    "that it can be understood alone; quote the line it rests on.",
    R"({"type":"object","required":["text"],"additionalProperties":false,"properties":{
"text":{"type":"string","minLength":1,"maxLength":2000,"description":"the note"},
"quote":{"type":"string","maxLength":2000,"description":"the words it rests on"}}})",
    {.writes = R"({"fixed":"notes/{day}.md","ops":["append"]})", .groups = kGroups});

constexpr auto kReadFile = tool<read_file>(
    "read_file",
    "Reads a file of the desk, at most 16 KiB at once; says when there is more.",
    R"({"type":"object","required":["path"],"additionalProperties":false,"properties":{
"path":{"type":"string","minLength":1,"maxLength":1024,"description":"such as Memory.md or notes/2026-10-19.md"},
"from_line":{"type":"integer","minimum":1},"max_lines":{"type":"integer","minimum":1}}})",
    {.groups = DAYBOOK_EXT_DESK_FILES, .flags = DAYBOOK_TOOL_IDEMPOTENT});

constexpr auto kListFiles =
    tool<list_files>("list_files",
                     "Lists the desk's files with their sizes. own = the desk may write it.",
                     R"({"type":"object","additionalProperties":false,"properties":{
"folder":{"type":"string","maxLength":1024,"description":"such as notes; all when left out"}}})",
                     {.groups = DAYBOOK_EXT_DESK_FILES, .flags = DAYBOOK_TOOL_IDEMPOTENT});

constexpr auto kWriteFile = tool<write_file>(
    "write_file",
    "Writes the whole new content of a file of the desk. An existing file must "
    "have been read to its end in this turn. For a small change use edit_file.",
    R"({"type":"object","required":["path","text"],"additionalProperties":false,"properties":{
"path":{"type":"string","minLength":1,"maxLength":1024},"text":{"type":"string"},
"base_sha256":{"type":"string","pattern":"^([0-9a-f]{64})?$","description":"hash from read_file: refused when the file is another by then"}}})",
    {.writes = R"({"arg":"path","ops":["replace"]})", .groups = DAYBOOK_EXT_DESK_FILES});

constexpr auto kEditFile = tool<edit_file>(
    "edit_file",
    "Exchanges a piece of text in a file of the desk. old_text must occur exactly "
    "once. Several edits are made in order and stop at the first that fails.",
    R"({"type":"object","required":["path"],"additionalProperties":false,"properties":{
"path":{"type":"string","minLength":1,"maxLength":1024},
"old_text":{"type":"string","minLength":1},"new_text":{"type":"string"},
"edits":{"type":"array","minItems":1,"maxItems":20,"items":{"type":"object","required":["old_text","new_text"],
"additionalProperties":false,"properties":{"old_text":{"type":"string","minLength":1},"new_text":{"type":"string"}}}},
"base_sha256":{"type":"string","pattern":"^([0-9a-f]{64})?$","description":"hash from read_file: refused when the file is another by then"}}})",
    {.writes = R"({"arg":"path","ops":["edit"]})", .groups = DAYBOOK_EXT_DESK_FILES});

}  // namespace

}  // namespace daybook::memory

DAYBOOK_PLUGIN("memory",
               DAYBOOK_VERSION_STRING,
               daybook::wants(DAYBOOK_EXT_DESK_FILES, DAYBOOK_EXT_CLOCK),
               &daybook::memory::kAddNote,
               &daybook::memory::kReadFile,
               &daybook::memory::kListFiles,
               &daybook::memory::kWriteFile,
               &daybook::memory::kEditFile)
