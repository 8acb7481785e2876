#include "host/surface/api_vault.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/format/text_mask.hpp"
#include "host/surface/api_trust.hpp"
#include "host/surface/backup.hpp"
#include "host/surface/forget_desk.hpp"
#include "host/surface/host.hpp"
#include "host/surface/job_reply.hpp"
#include "host/surface/journal_verify.hpp"
#include "host/surface/offline_desk.hpp"
#include "host/surface/offline_edits.hpp"
#include "host/surface/state_folder.hpp"
#include "host/surface/vault.hpp"

namespace daybook {
namespace {

/// A request that takes long and needs nothing but the files.
using OnFiles = Result<Json> (*)(const VaultPlace& place, const std::string& desk);

/// Runs beside the desks, on a thread of its own.
void start_job(Host& host, std::string_view verb, OnFiles run, Args& args, const ReplyPtr& reply) {
    const std::string desk = args.name_or("desk", "");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    const VaultPlace place{host.needs().os, host.needs().state.path(), host.needs().places.config};
    answer_by_job(
        host.jobs(),
        std::string(verb),
        [&host, place, run, desk](const std::stop_token&) {
            for (Desk* each : host.desks()) {
                // The files alone tell all of it once the record log is empty.
                if (desk.empty() || each->name() == desk) {
                    const Result<> ignored = each->checkpoints().publish();
                }
            }
            return run(place, desk);
        },
        reply);
}

struct OnceVerb {
    std::string_view name;
    Result<Json> (*run)(const Places& places, Os& os, Args& args);
};

template <OnFiles Run>
Result<Json> once(const Places& places, Os& os, Args& args) {
    const std::string desk = args.name_or("desk", "");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    return Run({os, places.state, places.config}, desk);
}

constexpr std::size_t kMaxPath = 4096;

/// An absolute path, as the asker meant it: it has another working directory.
Result<std::filesystem::path> path_of(Args& args, std::string_view key) {
    const std::filesystem::path path = args.text(key, kMaxPath);
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    return path.is_absolute()
               ? Result<std::filesystem::path>(path)
               : Error(Errc::invalid, "\"" + std::string(key) + "\": not an absolute path");
}

/// The desk's thread runs it between two turns. A desk that did not open changes nothing.
Result<> hold_desk(Host& host, const std::string& name, const std::function<Result<>()>& work) {
    auto desk = host.desk(name);
    if (!desk) {
        return work();
    }
    std::promise<Result<>> outcome;
    (*desk)->hold_still(work, [&outcome](Result<> done) { outcome.set_value(std::move(done)); });
    return outcome.get_future().get();
}

/// As a start does: in a copy nothing tells a write that a power cut took from the owner's edit.
Result<> recover_desks(const Places& places, const VaultPlace& place) {
    auto names = desk_names(place);
    if (!names) {
        return names.error();
    }
    const SystemClock clock;
    for (const std::string& name : *names) {
        const auto log = place.state / "workspace/.checkpoints" / (name + ".git/daybook.records");
        std::error_code error;
        if (!std::filesystem::exists(log, error)) {
            continue;  // all there is stands in git
        }
        if (auto desk = OfflineDesk::open(places, place.os, clock, name); !desk) {
            return desk.error();
        }
    }
    return {};
}

Result<Json> backup_once(const Places& places, Os& os, Args& args) {
    BackupWish wish;
    wish.with_keys = args.flag("keys");
    auto to = path_of(args, "to");
    if (!to) {
        return to.error();
    }
    wish.to = *to;
    wish.at = SystemClock().now();
    std::error_code error;
    if (!std::filesystem::exists(places.state / "format", error)) {
        return Error(Errc::not_found, "backup: " + places.state.string() + " is no daybook home");
    }
    auto locked = StateFolder::open(os, places.state);  // no host starts meanwhile
    if (!locked) {
        return locked.error();
    }
    const VaultPlace place{os, places.state, places.config};
    if (auto recovered = recover_desks(places, place); !recovered) {
        return recovered.error().during("backup");
    }
    return back_up(place, wish, [](const std::string&, const std::function<Result<>()>& work) {
        return work();
    });
}

Result<Json> restore_once(const Places& places, Os& os, Args& args) {
    auto from = path_of(args, "from");
    return from ? restore_home({os, places.state, places.config}, *from)
                : Result<Json>(from.error());
}

Result<ForgetWish> forget_wish(Args& args) {
    ForgetWish wish;
    wish.desk = args.name("desk");
    wish.texts = args.texts("texts");
    wish.dry_run = args.flag("dry_run");
    const auto wrong = args.wrong();
    return wrong ? Result<ForgetWish>(*wrong) : Result<ForgetWish>(std::move(wish));
}

Result<Json> forget_once(const Places& places, Os& os, Args& args) {
    auto wish = forget_wish(args);
    if (!wish) {
        return wish.error();
    }
    std::error_code error;
    if (!std::filesystem::exists(places.state / "format", error)) {
        return Error(Errc::not_found, "forget: " + places.state.string() + " is no daybook home");
    }
    auto locked = StateFolder::open(os, places.state);
    return locked ? forget_in_desk({os, places.state, places.config}, SystemClock(), *wish)
                  : Result<Json>(locked.error());
}

Result<Json> take_once(const Places& places, Os& os, Args& args) {
    const std::string desk = args.name("desk");
    const std::string reason = args.text_or("reason", "by the owner's word", 200);
    const auto wrong = args.wrong();
    return wrong ? Result<Json>(*wrong) : note_edits_offline(places, os, desk, reason);
}

Result<Json> note_edits_once(const Places& places, Os& os, Args& args) {
    const std::string desk = args.name("desk");
    const auto wrong = args.wrong();
    return wrong ? Result<Json>(*wrong) : note_edits_offline(places, os, desk, "");
}

constexpr OnceVerb kOnceVerbs[] = {
    {"checkpoint.note_edits", note_edits_once},
    {"checkpoint.take", take_once},
    {"checkpoint.verify", once<verify_desks>},
    {"desk.forget", forget_once},
    {"home.backup", backup_once},
    {"home.restore", restore_once},
    {"home.usage", once<usage_of_home>},
    {"journal.verify", once<verify_journals_of_files>},
    {"plugin.look", plugin_look_once},
    {"plugin.trust", plugin_trust_once},
};

}  // namespace

void api::checkpoint_verify(Host& host, Args& args, const ReplyPtr& reply) {
    start_job(host, "verify", verify_desks, args, reply);
}

void api::home_usage(Host& host, Args& args, const ReplyPtr& reply) {
    start_job(host, "du", usage_of_home, args, reply);
}

void api::journal_verify(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string desk = args.name_or("desk", "");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    const auto source = [&host](const std::string& name) {
        const auto open = host.desk(name);
        return open ? store_source((*open)->checkpoints())
                    : repository_source(host.needs().os, host.needs().state.path(), name);
    };
    answer_by_job(
        host.jobs(),
        "journal verify",
        [&host, source, desk](const std::stop_token&) {
            const VaultPlace place{
                host.needs().os, host.needs().state.path(), host.needs().places.config};
            return verify_journals(place, desk, source);
        },
        reply);
}

/// The one desk is closed for it, its runners with it: what they had in memory is gone. Its turn is
/// cut and runs again afterwards, on a conversation that does not hold the text any more. A dry run
/// closes it too, for it reads what nobody else may have open.
void api::desk_forget(Host& host, Args& args, const ReplyPtr& reply) {
    auto wish = forget_wish(args);
    if (!wish) {
        reply->done(wish.error());
        return;
    }
    if (auto mask = TextMask::of(wish->texts); !mask) {
        reply->done(mask.error().during("forget"));  // no desk is closed for that
        return;
    }
    wish->is_live = true;
    answer_by_job(
        host.jobs(),
        "forget",
        [&host, wish = *wish](const std::stop_token&) -> Result<Json> {
            const VaultPlace place{
                host.needs().os, host.needs().state.path(), host.needs().places.config};
            Result<Json> forgotten = Error(Errc::internal, "forget: no outcome");
            const auto closed = host.while_closed(
                wish.desk, "closed while something is forgotten", [&]() -> Result<> {
                    forgotten = forget_in_desk(place, host.clock(), wish);
                    return forgotten ? Result<>() : Result<>(forgotten.error());
                });
            return closed ? std::move(forgotten) : Result<Json>(closed.error());
        },
        reply);
}

void api::home_backup(Host& host, Args& args, const ReplyPtr& reply) {
    BackupWish wish;
    wish.with_keys = args.flag("keys");
    auto to = path_of(args, "to");
    if (!to) {
        reply->done(to.error());
        return;
    }
    wish.to = *to;
    wish.is_live = true;
    wish.at = host.clock().now();
    answer_by_job(
        host.jobs(),
        "backup",
        [&host, wish](const std::stop_token&) {
            const VaultPlace place{
                host.needs().os, host.needs().state.path(), host.needs().places.config};
            return back_up(place, wish, [&host](const std::string& desk, const auto& work) {
                return hold_desk(host, desk, work);
            });
        },
        reply);
}

Result<Json> run_once(const PlaceOptions& options, std::string_view verb, const Json& args) {
    const auto found = std::find_if(std::begin(kOnceVerbs),
                                    std::end(kOnceVerbs),
                                    [&](const OnceVerb& each) { return each.name == verb; });
    if (found == std::end(kOnceVerbs)) {
        return Error(Errc::unsupported,
                     "without a running host there is no request " + printable(verb, 64));
    }
    auto places = find_places(options, Surroundings::of_process());
    if (!places) {
        return places.error();
    }
    LinuxOs os;
    Args read(args);
    return found->run(*places, os, read);
}

}  // namespace daybook
