#include "host/surface/api_vault.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "host/surface/host.hpp"
#include "host/surface/journal_verify.hpp"
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
    auto started = host.jobs().start(
        std::string(verb),
        [place, run, desk, reply](const std::stop_token&) { reply->done(run(place, desk)); });
    if (!started) {
        reply->done(started.error());
    }
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

constexpr OnceVerb kOnceVerbs[] = {
    {"checkpoint.verify", once<verify_desks>},
    {"home.usage", once<usage_of_home>},
    {"journal.verify", once<verify_journals>},
};

}  // namespace

void api::checkpoint_verify(Host& host, Args& args, const ReplyPtr& reply) {
    start_job(host, "verify", verify_desks, args, reply);
}

void api::home_usage(Host& host, Args& args, const ReplyPtr& reply) {
    start_job(host, "du", usage_of_home, args, reply);
}

void api::journal_verify(Host& host, Args& args, const ReplyPtr& reply) {
    start_job(host, "journal verify", verify_journals, args, reply);
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
