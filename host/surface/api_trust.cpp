#include "host/surface/api_trust.hpp"

#include <utility>

#include "host/journal/journal.hpp"
#include "host/surface/config_file.hpp"
#include "host/surface/host.hpp"
#include "host/surface/plugin_approval.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kHashDigits = 64;

Result<ApprovalWish> read_wish(Args& args) {
    ApprovalWish wish;
    wish.file = args.text_or("file", "", kMaxPath);
    wish.plugin = args.name_or("plugin", "");
    wish.sha256 = args.text_or("sha256", "", kHashDigits);
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    if (wish.file.empty() == wish.plugin.empty()) {
        return Error(Errc::invalid, "wanted \"file\" or \"plugin\", one of them");
    }
    if (!wish.file.empty() && !wish.file.is_absolute()) {
        return Error(Errc::invalid, "\"file\": not an absolute path");
    }
    return wish;
}

Registry::Places plugin_places(const std::filesystem::path& state) {
    return {default_plugin_path(), state, shipped_plugin_folders()};
}

/// The outcome of `use` on the files of a home whose host does not run.
template <class Use>
Result<Json> on_files(const Places& places, Os& os, Args& args, Use use) {
    const auto wish = read_wish(args);
    if (!wish) {
        return wish.error();
    }
    std::error_code error;
    if (!std::filesystem::exists(places.state / "format", error)) {
        return Error(Errc::not_found,
                     places.state.string() + " is no daybook home; make one first: daybook init");
    }
    auto state = StateFolder::open(os, places.state);  // no host starts meanwhile
    if (!state) {
        return state.error();
    }
    const Registry::Places plugins = plugin_places(places.state);
    const auto config = load_config(places.config, places.flags());
    const ApprovalPlace place{os, state->dir(), plugins, config ? &*config : nullptr};
    return use(place, *wish);
}

}  // namespace

Result<Json> api::plugin_look(Host& host, Args& args) {
    const auto wish = read_wish(args);
    if (!wish) {
        return wish.error();
    }
    const Registry::Places plugins = plugin_places(host.needs().state.path());
    return look_at_plugin({host.needs().os, host.needs().state.dir(), plugins, &host.config()},
                          *wish);
}

Result<Json> api::plugin_trust(Host& host, Args& args) {
    const auto wish = read_wish(args);
    if (!wish) {
        return wish.error();
    }
    const Registry::Places plugins = plugin_places(host.needs().state.path());
    auto approved =
        approve_plugin_file({host.needs().os, host.needs().state.dir(), plugins, &host.config()},
                            *wish,
                            host.clock().now());
    if (approved) {
        host.log().info("plugin trusted by the owner plugin=" + (*approved)["plugin"].as_string() +
                        " path=" + (*approved)["file"].as_string() +
                        " sha256=" + (*approved)["sha256"].as_string());
        host.record("plugin", approval_record(*approved));
    }
    return approved;
}

Result<Json> plugin_look_once(const Places& places, Os& os, Args& args) {
    return on_files(places, os, args, look_at_plugin);
}

Result<Json> plugin_trust_once(const Places& places, Os& os, Args& args) {
    return on_files(places,
                    os,
                    args,
                    [&os](const ApprovalPlace& place, const ApprovalWish& wish) -> Result<Json> {
                        const SystemClock clock;
                        auto journal = Journal::open(
                            os, clock, place.state_dir, "journal/_host", "_host", std::nullopt);
                        if (!journal) {
                            return journal.error();
                        }
                        auto approved = approve_plugin_file(place, wish, clock.now());
                        if (!approved) {
                            return approved;
                        }
                        JournalEntry entry;
                        entry.type = "plugin";
                        entry.data = approval_record(*approved);
                        auto written = (*journal)->append(std::move(entry));
                        return written ? std::move(approved) : Result<Json>(written.error());
                    });
}

}  // namespace daybook
