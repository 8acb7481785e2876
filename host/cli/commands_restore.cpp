// checkpoint restore, undo, trash; edit.
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cli/commands.hpp"
#include "host/cli/offline_host.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"
#include "host/os/desk_path.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace daybook::cli {
namespace {

bool is_checkpoint(const std::string& word) {
    return word.starts_with("c-") && word.size() > 2 &&
           word.find_first_not_of("0123456789", 2) == std::string::npos;
}

/// [DESK] CHECKPOINT [FILE], or the file by --file.
struct RestoreWords {
    std::string desk, checkpoint, file;
};

Result<RestoreWords> restore_words(Client& client, const Options& options) {
    Options rest = options;
    RestoreWords words;
    words.file = options.file;
    // With two words the first is the desk unless it is a checkpoint.
    const bool has_file =
        words.file.empty() && (options.words.size() == 3 ||
                               (options.words.size() == 2 &&
                                (!options.desk.empty() || is_checkpoint(options.words.front()))));
    if (has_file) {
        words.file = rest.words.back();
        rest.words.pop_back();
    }
    auto taken = take_desk(client, rest, 1);
    if (!taken) {
        return taken.error();
    }
    if (taken->rest.size() != 1) {
        return Error(Errc::invalid, "daybook checkpoint restore takes [DESK] CHECKPOINT [FILE]");
    }
    words.desk = taken->desk;
    words.checkpoint = taken->rest.front();
    return words;
}

void print_notes(const Json& report, const Output& output) {
    for (const Json& each : report["skipped"].items()) {
        output.line(output.yellow("left as it is: " + each["path"].as_string()) + "  " +
                    each["why"].as_string());
    }
    for (const Json& each : report["folders"].items()) {
        output.line(output.yellow("folder " + each["path"].as_string()) + "  " +
                    each["why"].as_string());
    }
    for (const Json& name : report["untouched"].items()) {
        output.line(output.dim("no checkpoint holds, not touched: " + name.as_string()));
    }
}

void print_preview(const Json& report, const Output& output) {
    if (report["files"].items().empty()) {
        output.say("nothing would change");
    }
    for (const Json& file : report["files"].items()) {
        output.line(output.bold(file["path"].as_string()) + "  would be " +
                    file["change"].as_string());
        const std::string& diff = file["diff"].as_string();
        output.raw(diff);
        if (!diff.empty() && diff.back() != '\n') {
            output.raw("\n");
        }
    }
    print_notes(report, output);
}

void print_restored(const Options& options,
                    const std::string& desk,
                    const Json& report,
                    const Output& output) {
    const std::string& before = report["checkpoint"].as_string();
    const auto count = report["files"].items().size();
    if (before.empty()) {
        output.line("nothing to do: all is as " + report["restored_from"].as_string() +
                    " holds it");
        print_notes(report, output);
        return;
    }
    output.line("restored " +
                (count == 1 ? report["files"].items().front()["path"].as_string()
                            : std::to_string(count) + " files") +
                " from " + report["restored_from"].as_string() + "; the state before is " + before);
    print_notes(report, output);
    output.line("undo with: " + same_host(options, "checkpoint undo " + desk));
}

/// Asks on a terminal. False: not confirmed, or nobody can be asked.
bool is_confirmed(const Options& options, const Output& output, const std::string& question) {
    if (options.yes) {
        return true;
    }
    if (::isatty(STDIN_FILENO) == 0 || output.json()) {
        return false;
    }
    std::cerr << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

/// Dry run, confirmation, the thing itself.
int restore_with(const Options& options,
                 Output& output,
                 Client& client,
                 const std::string& verb,
                 const Json& args,
                 bool asks) {
    if (options.dry_run || (asks && !options.yes)) {
        Json dry = args;
        auto preview = client.call(verb, dry.set("dry_run", true));
        if (!preview) {
            return output.fail(preview.error());
        }
        if (options.dry_run) {
            if (output.json()) {
                output.object(*preview);
            } else {
                print_preview(*preview, output);
            }
            return 0;
        }
        const auto count = (*preview)["files"].items().size();
        if (!is_confirmed(
                options,
                output,
                "put " + std::to_string(count) + " files back? (--dry-run shows what changes)")) {
            return output.fail(
                Error(Errc::invalid,
                      "not confirmed: " + std::to_string(count) + " files would change"),
                "--dry-run shows them, --yes does it without asking");
        }
    }
    auto report = client.call(verb, args);
    if (!report) {
        return output.fail(report.error());
    }
    if (output.json()) {
        output.object(*report);
    } else {
        print_restored(options, args["desk"].as_string(), *report, output);
    }
    return 0;
}

/// The owner's own process, on the owner's terminal. Errors: io, invalid (no editor is set).
Result<> run_editor(const std::string& file) {
    const char* visual = std::getenv("VISUAL");
    const char* editor = visual != nullptr && *visual != '\0' ? visual : std::getenv("EDITOR");
    const std::string command =
        (editor != nullptr && *editor != '\0' ? std::string(editor) : std::string("vi")) +
        " \"$1\"";
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    std::string name = "daybook-edit";
    std::string path = file;
    char* const arguments[] = {
        shell.data(), flag.data(), text.data(), name.data(), path.data(), nullptr};
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ);
    if (failed != 0) {
        return Error(Errc::io, "start the editor: " + std::generic_category().message(failed));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return Error(Errc::io,
                         "wait for the editor: " + std::generic_category().message(errno));
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return Error(Errc::io, "the editor ended with an error (" + command + ")");
    }
    return {};
}

/// A desk of this home that has a folder, and a name that may be edited.
Result<std::filesystem::path> file_to_edit(const Places& places,
                                           const std::string& desk,
                                           const std::string& name) {
    if (!is_plain_name(desk)) {
        return Error(Errc::invalid, "desk " + printable(desk) + ": not the name of a desk");
    }
    auto path = DeskPath::parse(name);
    if (!path) {
        return path.error();
    }
    if (!path->is_own()) {
        return Error(Errc::refused,
                     "edit " + name +
                         ": not one of the desk's own files (Memory.md, memory/, notes/, skills/); "
                         "edit your own files with any editor");
    }
    const auto folder = places.state / "workspace" / desk;
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
        return Error(Errc::not_found, "desk " + desk + " has no folder at " + folder.string());
    }
    const auto file = folder / name;
    const auto status = std::filesystem::symlink_status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        return Error(Errc::refused, "edit " + name + ": not a plain file");
    }
    return file;
}

}  // namespace

int restore_checkpoint(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto words = restore_words(connected.client(), options);
    if (!words) {
        return output.fail(words.error());
    }
    Json args = Json::object().set("desk", words->desk).set("checkpoint", words->checkpoint);
    if (!words->file.empty()) {
        args.set("file", words->file);
    }
    return restore_with(
        options, output, connected.client(), "checkpoint.restore", args, words->file.empty());
}

int undo_restore(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto words = take_desk(connected.client(), options, 0);
    if (!words) {
        return output.fail(words.error());
    }
    return restore_with(options,
                        output,
                        connected.client(),
                        "checkpoint.undo",
                        Json::object().set("desk", words->desk),
                        false);
}

int list_trash(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto words = take_desk(connected.client(), options, 0);
    auto kept =
        words ? connected.client().call("checkpoint.trash", Json::object().set("desk", words->desk))
              : Result<Json>(words.error());
    if (!kept) {
        return output.fail(kept.error());
    }
    if (output.json()) {
        output.object(*kept);
        return 0;
    }
    Table table({"FILE", "SIZE", "BEFORE", "TIME", "KIND"});
    for (const Json& file : (*kept)["files"].items()) {
        table.add({file["path"].as_string(),
                   size_text(file["bytes"].as_integer()),
                   file["checkpoint"].as_string(),
                   file["at"].as_string().substr(0, 19) + "Z",
                   file["kind"].as_string()});
    }
    output.raw(table.empty() ? "the trash is empty\n" : table.str());
    return 0;
}

int empty_trash(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto words = take_desk(connected.client(), options, 0);
    auto gone = words ? connected.client().call("checkpoint.empty_trash",
                                                Json::object().set("desk", words->desk))
                      : Result<Json>(words.error());
    if (!gone) {
        return output.fail(gone.error());
    }
    if (output.json()) {
        output.object(*gone);
    } else {
        output.line("removed " + std::to_string((*gone)["files"].as_integer()) + " files, " +
                    size_text((*gone)["bytes"].as_integer()));
    }
    return 0;
}

int edit_file(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    const std::string desk = options.words.size() == 2 ? options.words.front() : options.desk;
    const std::string name = options.words.back();
    if (desk.empty()) {
        return output.fail(Error(Errc::invalid, "daybook edit takes DESK FILE"));
    }
    auto file = file_to_edit(*places, desk, name);
    const Json about = Json::object().set("desk", desk);
    Json first = about;
    auto before = file ? call_either(options,
                                     *places,
                                     "checkpoint.take",
                                     first.set("reason", "before " + name + " is edited"))
                       : Result<Json>(file.error());
    if (!before) {
        return output.fail(before.error());
    }
    const Result<> edited = run_editor(file->string());
    // Also after an editor that failed: what it saved is kept.
    auto after = call_either(options, *places, "checkpoint.note_edits", about);
    if (!edited || !after) {
        return output.fail(edited ? after.error() : edited.error());
    }
    const std::string before_id = (*before)["checkpoint"].as_string();
    std::string id = (*after)["checkpoint"].as_string();
    if (id.empty()) {
        // A running host may have noticed the save by itself.
        Json newest = about;
        auto list = call_either(options, *places, "checkpoint.list", newest.set("limit", 1));
        const auto* items = list ? &(*list)["checkpoints"].items() : nullptr;
        if (items != nullptr && !items->empty() && items->front()["kind"].as_string() == "edited" &&
            items->front()["id"].as_string() != before_id) {
            id = items->front()["id"].as_string();
        }
    }
    if (output.json()) {
        output.object(Json::object()
                          .set("desk", desk)
                          .set("path", name)
                          .set("before", (*before)["checkpoint"].as_string())
                          .set("checkpoint", id));
    } else {
        output.line(id.empty() ? "nothing has changed"
                               : "recorded as " + id + "; the state before is " +
                                     (*before)["checkpoint"].as_string());
    }
    return 0;
}

}  // namespace daybook::cli
