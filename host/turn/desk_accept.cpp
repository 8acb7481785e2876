// Accepting triggers: journalled and durable first, queued after.
#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/host_calls.hpp"
#include "host/turn/desk_impl.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxTextLine = 56UL * 1024;  // of a journal line of 64 KiB
constexpr std::size_t kMaxKey = 200;
constexpr std::size_t kMaxKnown = 50000;
constexpr int kKnownDays = 7;

Result<> check_word(std::string_view what, const std::string& word) {
    const bool good = word.size() <= kMaxKey && is_utf8(word) &&
                      std::none_of(word.begin(), word.end(), [](char c) {
                          return static_cast<unsigned char>(c) < 0x20;
                      });
    if (!good) {
        return Error(Errc::invalid,
                     std::string(what) + " \"" + printable(mask_secrets(word), 60) +
                         "\": expected at most " + std::to_string(kMaxKey) +
                         " bytes of text in one line");
    }
    // A masked key would no longer tell one trigger from another, so it is refused instead.
    if (const auto secret = find_secret(word)) {
        return Error(Errc::invalid,
                     "the trigger's " + std::string(what) + " holds what looks like a secret (" +
                         *secret + "): it stays in the journal for ever, so choose another");
    }
    return {};
}

Result<> check_text(const std::string& text) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        return Error(Errc::invalid, "the trigger's text is empty");
    }
    if (!is_utf8(text) || text.find('\0') != std::string::npos) {
        return Error(Errc::invalid, "the trigger's text is not UTF-8 text");
    }
    const std::size_t bytes = Json(text).dump().size();
    if (bytes > kMaxTextLine) {
        return Error(Errc::invalid,
                     "the trigger's text is too long: " + std::to_string(bytes) +
                         " bytes as JSON, at most " + std::to_string(kMaxTextLine));
    }
    return {};
}

/// "main-20261019-000118" -> "20261019"
std::string_view date_of(std::string_view id) {
    const auto last = id.rfind('-');
    return last == std::string_view::npos || last < 8 ? std::string_view() : id.substr(last - 8, 8);
}

}  // namespace

Result<Accepted> Desk::Impl::accept(TurnKind kind,
                                    std::string text,
                                    std::string key,
                                    std::string name) {
    if (auto known_kind = trigger_kind_of(name_of(kind)); !known_kind) {
        return known_kind.error();
    }
    for (auto fits : {check_text(text), check_word("key", key), check_word("name", name)}) {
        if (!fits) {
            return fits.error();
        }
    }
    if (stopping) {
        return Error(Errc::unavailable, "desk " + config.name + " is stopping");
    }
    if (auto place = queue.reserve(); !place) {
        return place.error().during("desk " + config.name);
    }
    // Before the trigger is journalled: what is accepted must also get a thread to run on.
    if (auto ready = thread.wake(); !ready) {
        queue.release();
        return ready.error().during("desk " + config.name);
    }
    Trigger trigger;
    trigger.kind = kind;
    trigger.source = source_of(kind);
    trigger.text = std::move(text);
    trigger.key = std::move(key);
    trigger.name = std::move(name);
    auto record = stores.journal->append(entry_of(trigger));
    if (!record) {
        queue.release();
        return Error(
            record.error().code() == Errc::full ? Errc::full : Errc::unavailable,
            "desk " + config.name + ": the trigger was not accepted: " + record.error().message());
    }
    trigger.id = record->id;
    trigger.accepted = record->ts;
    Accepted accepted;
    accepted.trigger = record->id;
    {
        const std::lock_guard lock(known_mutex);
        const auto [place, is_new] = known.emplace(record->id, false);
        accepted.duplicate = !is_new;
        accepted.settled = place->second;
    }
    if (accepted.duplicate) {
        queue.release();
        return accepted;
    }
    queue.push_reserved(std::move(trigger));
    {
        const std::lock_guard lock(work_mutex);
        retry_at = {};  // somebody waits for an answer: ask the models at once
        if (is_redoing) {
            interrupt.set("a trigger goes first");
        }
    }
    if (paused) {
        tell_paused(accepted.trigger);
        return accepted;
    }
    wake_thread();
    return accepted;
}

Result<Json> Desk::Impl::accept_from_plugin(const HandOver& trigger) {
    if (queue.waiting() >= services.config.host.queue_limit / 2) {
        return Error(Errc::full,
                     "desk " + config.name + ": " + std::to_string(queue.waiting()) +
                         " triggers wait; the rest of the queue is kept for the owner and the "
                         "market");
    }
    const TurnKind kind = trigger.kind == HandOver::Kind::fill    ? TurnKind::fill
                          : trigger.kind == HandOver::Kind::alert ? TurnKind::alert
                                                                  : TurnKind::job;
    auto accepted = accept(kind, trigger.text, trigger.key, trigger.name);
    if (!accepted) {
        return accepted.error();
    }
    return Json::object().set("trigger", accepted->trigger).set("duplicate", accepted->duplicate);
}

void Desk::Impl::note_settled(const std::string& trigger) {
    const std::lock_guard lock(known_mutex);
    known[trigger] = true;
    if (known.size() <= kMaxKnown) {
        return;
    }
    // The journal tells duplicates of its newest three files; only older ids are forgotten here.
    std::string oldest = stores.journal->today().plus_days(-kKnownDays).str();
    std::erase(oldest, '-');
    std::erase_if(known,
                  [&](const auto& item) { return item.second && date_of(item.first) < oldest; });
}

}  // namespace daybook
