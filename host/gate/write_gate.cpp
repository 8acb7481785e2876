#include "host/gate/write_gate.hpp"

#include <algorithm>

#include "host/checkpoint/file_scan.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/content_rules.hpp"
#include "host/os/utf8.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxExcerpt = 80;
constexpr std::size_t kMaxReason = 300;

bool is_notes(const DeskPath& path) {
    return path.str().starts_with("notes/");
}

std::string hash_of(const std::optional<std::string>& content) {
    return content ? sha256_hex(*content) : std::string();
}

std::string short_hash(std::string_view sha256) {
    return sha256.empty() ? "absent" : std::string(sha256.substr(0, 12));
}

std::string doing(const DeskPath& path) {
    return "write " + path.str();
}

std::string clean_reason(std::string_view reason) {
    return printable(mask_secrets(reason), kMaxReason);
}

/// Which of the content rules it was, by name.
std::string rule_of_content(const DeskPath& path, std::string_view content) {
    if (content.size() > max_bytes_of(path)) {
        return "size";
    }
    const auto secret = find_secret(content);
    return secret ? "secret: " + *secret : "text";
}

constexpr std::size_t kMostCounted = 100;

struct Occurrences {
    std::size_t count = 0;  ///< at most kMostCounted
    std::size_t first = 0;  ///< where the first begins
};

/// Overlapping ones too: which of them is meant would be a guess. Knuth, Morris and Pratt's: no
/// text takes longer than its length. `piece` is not empty.
Occurrences find_all(std::string_view text, std::string_view piece) {
    std::vector<std::size_t> border(piece.size(), 0);  // of each start: its longest end that is one
    const auto advance = [&](std::size_t matched, char c) {
        while (matched > 0 && (matched == piece.size() || piece[matched] != c)) {
            matched = border[matched - 1];
        }
        return piece[matched] == c ? matched + 1 : matched;
    };
    for (std::size_t i = 1; i < piece.size(); ++i) {
        border[i] = advance(border[i - 1], piece[i]);
    }
    Occurrences found;
    std::size_t matched = 0;
    for (std::size_t i = 0; i < text.size() && found.count < kMostCounted; ++i) {
        matched = advance(matched, text[i]);
        if (matched == piece.size()) {
            found.first = found.count++ == 0 ? i + 1 - piece.size() : found.first;
        }
    }
    return found;
}

}  // namespace

Json WriteReceipt::to_json() const {
    Json json = Json::object();
    json.set("path", path);
    json.set("checkpoint", checkpoint);
    json.set("sha256", sha256);
    json.set("bytes_before", static_cast<std::int64_t>(bytes_before));
    json.set("bytes", static_cast<std::int64_t>(bytes));
    json.set("journal", journal);
    return json;
}

WriteGate::WriteGate(Os& os,
                     const Clock& clock,
                     int desk_dir,
                     std::string desk,
                     CheckpointStore& checkpoints,
                     Journal& journal,
                     std::optional<DeskPlaces> places,
                     Ledger* ledger)
    : os_(os),
      clock_(clock),
      desk_dir_(desk_dir),
      desk_(std::move(desk)),
      checkpoints_(checkpoints),
      journal_(journal),
      places_(std::move(places)),
      ledger_(ledger),
      trash_(places_ ? std::make_unique<Trash>(os, clock, *places_) : nullptr),
      swap_(os, desk_dir, trash_.get(), places_ ? places_->desk : "") {}

std::optional<std::string> WriteGate::read_only_reason() const {
    if (read_only_) {
        return read_only_;
    }
    if (swap_.sync_failure()) {
        return swap_.sync_failure();
    }
    return journal_.failed() ? std::optional<std::string>("the journal could not be synced")
                             : std::nullopt;
}

Result<> WriteGate::check_open(const DeskPath& path) const {
    if (const auto reason = read_only_reason()) {
        return Error(
            Errc::io,
            doing(path) + ": the desk's files are read-only until the next start: " + *reason);
    }
    return {};
}

std::optional<WriteGate::Refusal> WriteGate::check_request(const WriteRequest& request) const {
    const auto refused = [&](std::string rule, Errc code, const std::string& sentence) {
        return Refusal{std::move(rule), Error(code, doing(request.path) + ": " + sentence)};
    };
    if (!request.path.is_own()) {
        return refused("path", Errc::refused, "not one of the desk's own files");
    }
    if (const auto secret = find_secret(request.path.str())) {
        return Refusal{
            "secret: " + *secret,
            Error(Errc::refused, "write a file: its name looks like a secret (" + *secret + ")")};
    }
    if (is_notes(request.path) && request.operation != kAppend) {
        return refused(
            "notes are append-only", Errc::refused, "notes are append-only; add a note instead");
    }
    if (request.operation == kAppend && request.text.empty()) {
        return refused("text", Errc::invalid, "there is nothing to append");
    }
    if (request.operation == kEdit && request.old_text.empty()) {
        return refused("edit text", Errc::invalid, "the text to replace is empty");
    }
    // The text by itself, before anything of it can be kept as the refused half of a conflict.
    if (auto fits = check_content(request.path, "", request.text); !fits) {
        return Refusal{rule_of_content(request.path, request.text), fits.error()};
    }
    return std::nullopt;
}

std::optional<WriteGate::Refusal> WriteGate::check_base(
    const ShownFiles& shown,
    bool is_owners,
    const WriteRequest& request,
    const std::optional<std::string>& before) const {
    const std::string current = hash_of(before);
    const auto conflict = [&](const std::string& sentence, bool keep_both = false) {
        return Refusal{
            "conflict", Error(Errc::conflict, doing(request.path) + ": " + sentence), keep_both};
    };
    const bool is_append = request.operation == kAppend;
    const auto known = shown.find(request.path);
    std::optional<std::string> base;
    if (!request.base_sha256.empty()) {
        base = request.base_sha256;
    } else if (!is_append) {
        base = known;
    }
    if (!base) {
        if (is_append || (request.operation == kReplace && !before)) {
            return std::nullopt;
        }
        if (!before) {
            return Refusal{
                "edit text",
                Error(Errc::not_found, "edit " + request.path.str() + ": there is no such file")};
        }
        return conflict("never shown to this turn: read it first");
    }
    if (*base != current) {
        return conflict(
            "the file changed since it was shown to this turn (shown " + short_hash(*base) +
                ", now " + short_hash(current) + ")" +
                (last_restore_.empty() ? ""
                                       : "; the owner restored " + last_restore_ + " meanwhile"),
            true);
    }
    if (is_append || !before || (is_owners && !request.base_sha256.empty())) {
        return std::nullopt;
    }
    // A hash alone shows nothing: whoever passes it may have it from anywhere.
    if (known != base) {
        return conflict("base_sha256 is not of what was shown to this turn: read it first");
    }
    if (request.operation == kReplace && !shown.is_whole(request.path)) {
        return conflict("shown only in part: read all of it first, or use an edit");
    }
    return std::nullopt;
}

std::optional<WriteGate::Refusal> WriteGate::compose(const WriteRequest& request,
                                                     Planned& planned) const {
    const std::string before = planned.before.value_or("");
    if (request.operation == kReplace) {
        planned.content = request.text;
        planned.added_bytes = request.text.size();
        return std::nullopt;
    }
    if (request.operation == kAppend) {
        std::string text = request.text;
        if (is_notes(request.path)) {  // two notes never share a line
            text = (before.empty() || before.ends_with('\n') ? "" : "\n") + text +
                   (text.ends_with('\n') ? "" : "\n");
        }
        planned.content = before + text;
        planned.added_bytes = text.size();
        return std::nullopt;
    }
    const std::string edit = "edit " + request.path.str();
    if (!planned.before) {
        return Refusal{"edit text", Error(Errc::not_found, edit + ": there is no such file")};
    }
    const Occurrences found = find_all(before, request.old_text);
    if (found.count != 1) {
        const std::string sentence = found.count == 0
                                         ? "the text to replace does not occur in it"
                                         : std::string("the text to replace occurs ") +
                                               (found.count == kMostCounted ? "at least " : "") +
                                               std::to_string(found.count) +
                                               " times; give more of the text around it";
        return Refusal{"edit text", Error(Errc::invalid, edit + ": " + sentence)};
    }
    planned.content = before;
    planned.content.replace(found.first, request.old_text.size(), request.text);
    planned.added_bytes = request.text.size();
    return std::nullopt;
}

WriteGate::Plan WriteGate::plan(const ShownFiles& shown,
                                bool is_owners,
                                const WriteRequest& request) {
    if (auto refusal = check_request(request)) {
        return std::move(*refusal);
    }
    auto before = read_current(request.path);
    if (!before) {
        return Refusal{"file", before.error()};
    }
    if (auto refusal = check_base(shown, is_owners, request, *before)) {
        return std::move(*refusal);
    }
    Planned planned;
    planned.before = std::move(*before);
    planned.base_sha256 = hash_of(planned.before);
    if (auto refusal = compose(request, planned)) {
        return std::move(*refusal);
    }
    if (auto fits = check_content(request.path, planned.before.value_or(""), planned.content);
        !fits) {
        return Refusal{rule_of_content(request.path, planned.content), fits.error()};
    }
    planned.sha256 = sha256_hex(planned.content);
    return planned;
}

Error WriteGate::refuse(const WriteContext& context,
                        const WriteRequest& request,
                        const Refusal& refusal) {
    JournalEntry entry;
    entry.type = "write_refused";
    entry.session = context.session;
    entry.turn = context.turn;
    entry.data.set("path", mask_secrets(request.path.str()));
    entry.data.set("op", names_of_operations(request.operation));
    entry.data.set("rule", refusal.rule);
    const Json& allowed = context.leash["file"];
    entry.data.set("allowed",
                   allowed.is_string() ? mask_secrets(allowed.as_string()) + " only" : "no file");
    entry.data.set("excerpt", printable(mask_secrets(request.text), kMaxExcerpt));
    entry.data.set("tool", context.tool);
    entry.data.set("call", context.call);
    entry.data.set("text", mask_secrets(refusal.error.message()));
    if (auto written = journal_.append(std::move(entry)); !written) {
        return Error(
            refusal.error.code(),
            refusal.error.message() + " (not journalled: " + written.error().message() + ")");
    }
    return refusal.error;
}

Result<> WriteGate::put(const DeskPath& path,
                        std::string_view expected,
                        const std::optional<std::string>& content,
                        const std::string& checkpoint) {
    swap_.set_folder_sync(!checkpoints_.redoes_writes());
    auto done = content ? swap_.replace(path, expected, *content, checkpoint)
                        : swap_.remove(path, expected, checkpoint);
    keep_superseded(path);
    return done;
}

JournalEntry WriteGate::entry_of(const TurnAllowance& allowance,
                                 const WriteContext& context,
                                 const WriteRequest& request,
                                 const Checkpoint& checkpoint,
                                 const Planned& planned) const {
    JournalEntry entry;
    entry.type = is_notes(request.path) ? "note_written" : "file_written";
    entry.session = context.session;
    entry.turn = context.turn;
    entry.key = write_key(checkpoint);
    entry.data.set("path", request.path.str());
    entry.data.set("op", names_of_operations(request.operation));
    entry.data.set("bytes_before", planned.before.value_or("").size());
    entry.data.set("bytes", planned.content.size());
    entry.data.set("checkpoint", checkpoint.id);
    entry.data.set("sha256_before", planned.base_sha256);
    entry.data.set("sha256", planned.sha256);
    entry.data.set("reason", clean_reason(request.reason));
    entry.data.set("tool", context.tool);
    entry.data.set("call", context.call);
    entry.data.set("plugin", context.plugin);
    entry.data.set("leash", context.leash);
    if (allowance.kind() == TurnKind::alert) {
        entry.data.set("trust", "untrusted");
    }
    return entry;
}

std::string WriteGate::write_key(const Checkpoint& checkpoint) {
    constexpr std::size_t kDigits = 12;  // of the commit: numbers begin anew in a new repository
    return "write:" + checkpoint.id + ":" + checkpoint.commit.substr(0, kDigits);
}

Result<WriteReceipt> WriteGate::finish(const DeskPath& path,
                                       const Checkpoint& checkpoint,
                                       const Planned& planned,
                                       const std::optional<std::string>& left,
                                       JournalEntry entry) {
    auto record = journal_.append(std::move(entry));
    if (!record) {
        // The next start completes it: the file is what the checkpoint announced.
        read_only_ = "a write was not journalled: " + record.error().message();
        return Error(Errc::io,
                     doing(path) + ": written after checkpoint " + checkpoint.id +
                         " but not journalled: " + record.error().message());
    }
    // A failure here takes nothing back: the write is durable and journalled. The store keeps the
    // content; the next checkpoint commits it first, whatever the file is by then, or is refused.
    const Result<> ignored = checkpoints_.record_written(checkpoint, path, left);
    WriteReceipt receipt;
    receipt.path = path.str();
    receipt.checkpoint = checkpoint.id;
    receipt.sha256 = hash_of(left);
    receipt.bytes_before = planned.before.value_or("").size();
    receipt.bytes = left.value_or("").size();
    receipt.journal = record->id;
    return receipt;
}

Result<WriteReceipt> WriteGate::write(Leash& leash,
                                      TurnAllowance& allowance,
                                      ShownFiles& shown,
                                      const WriteContext& context,
                                      const WriteRequest& request) {
    if (auto open = check_open(request.path); !open) {
        return open.error();
    }
    if (auto may = check_write(
            leash, request.path, request.operation, request.text.size(), clock_.steady());
        !may) {
        return refuse(context,
                      request,
                      {may.error().code() == Errc::deadline ? "deadline" : "leash", may.error()});
    }
    if (is_notes(request.path) && allowance.notes_left == 0) {
        const Error error(Errc::refused,
                          doing(request.path) + ": this turn has written as many notes as it may");
        return refuse(context, request, {"notes of a turn", error});
    }
    Plan plan_or_refusal = plan(shown, allowance.kind() == TurnKind::owner_call, request);
    if (const auto* refusal = std::get_if<Refusal>(&plan_or_refusal)) {
        if (refusal->error.code() == Errc::io || refusal->error.code() == Errc::busy) {
            return refusal
                ->error;  // no rule: the disk, or somebody who saves the file again and again
        }
        Refusal told = *refusal;
        if (told.keep_both) {
            told.error = keep_both(context, request, request.text, told.error);
        }
        return refuse(context, request, told);
    }
    const Planned& planned = std::get<Planned>(plan_or_refusal);
    auto settled = settle_leftover(request.path, false);
    if (settled) {
        settled = look_at_trash(false);
    }
    if (!settled) {
        return settled.error().during(doing(request.path));
    }
    CheckpointReason why{
        clean_reason(request.reason), context.call, context.tool, context.turn, ""};
    auto checkpoint =
        checkpoints_.take(request.path, planned.base_sha256, planned.sha256, why, planned.content);
    Result<> done = checkpoint
                        ? put(request.path, planned.base_sha256, planned.content, checkpoint->id)
                        : Result<>(checkpoint.error());
    if (checkpoint && !done) {
        checkpoints_.not_written(*checkpoint);
    }
    if (!done) {
        if (done.error().code() == Errc::conflict) {
            return refuse(context,
                          request,
                          {"conflict", keep_both(context, request, planned.content, done.error())});
        }
        return done.error().code() == Errc::refused
                   ? refuse(context, request, {"file", done.error()})
                   : done.error();
    }
    auto receipt = finish(request.path,
                          *checkpoint,
                          planned,
                          planned.content,
                          entry_of(allowance, context, request, *checkpoint, planned));
    if (receipt) {
        charge_write(leash, planned.added_bytes);
        if (is_notes(request.path) && allowance.notes_left > 0) {
            --allowance.notes_left;
        }
        if (request.operation == kReplace) {
            shown.remember(request.path, planned.sha256);
        } else {
            shown.remember_change(request.path, planned.base_sha256, planned.sha256);
        }
    }
    return receipt;
}

}  // namespace daybook
