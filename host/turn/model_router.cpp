#include "host/turn/model_router.hpp"

#include <algorithm>
#include <array>

namespace daybook {
namespace {

constexpr std::chrono::milliseconds kReadyTimeout{5000};

struct Row {
    std::string_view error_class;
    AfterModelError after;
};
constexpr std::array<Row, 10> kTable = {{
    {"not_ready", AfterModelError::next_model},
    {"overloaded", AfterModelError::next_model},
    {"lost_connection", AfterModelError::next_model},
    {"no_answer", AfterModelError::next_model},
    {"model_fault", AfterModelError::next_model},
    {"auth", AfterModelError::next_model},
    {"request_fault", AfterModelError::next_model},
    {"overflow", AfterModelError::fail},
    {"truncated", AfterModelError::fail},
    {"cancelled", AfterModelError::cancelled},
}};

}  // namespace

AfterModelError after_model_error(std::string_view error_class) noexcept {
    for (const Row& row : kTable) {
        if (row.error_class == error_class) {
            return row.after;
        }
    }
    return AfterModelError::next_model;
}

Result<ModelChoice> ModelRouter::find(const std::string& name) const {
    const auto& models = parts_.services.config.models;
    const auto found = models.find(name);
    if (found == models.end()) {
        return Error(Errc::not_found, "the configuration has no [model." + name + "]");
    }
    auto plugin = parts_.plugins.model_plugin(found->second);
    if (!plugin) {
        return plugin.error();
    }
    const std::vector<std::string>& offered = (*plugin)->manifest.models;
    if (offered.empty()) {
        return Error(Errc::unsupported, "plugin " + found->second.plugin + " offers no model");
    }
    const auto offers = [&](const std::string& model) {
        return std::find(offered.begin(), offered.end(), model) != offered.end();
    };
    const std::string& descriptor = offers(found->second.model) ? found->second.model
                                    : offers(name)              ? name
                                                                : offered.front();
    return ModelChoice{&found->second, *plugin, descriptor};
}

std::optional<ModelChoice> ModelRouter::pick(ModelCaller& caller,
                                             const std::set<std::string>& excluded,
                                             std::vector<ModelRefusal>& refusals) {
    if (parts_.config.models.empty()) {
        refusals.push_back({"", "desk " + parts_.config.name + " lists no model"});
    }
    for (const std::string& name : parts_.config.models) {
        if (excluded.contains(name)) {
            continue;
        }
        auto choice = find(name);
        if (!choice) {
            refusals.push_back({name, choice.error().message()});
            continue;
        }
        const SteadyTime now = parts_.services.clock.steady();
        auto known = readiness_.find(name);
        if (known == readiness_.end() || known->second.until <= now) {
            const auto ready = caller.ready(*choice, kReadyTimeout);
            const auto holds = ready ? kReadyHolds : kNotReadyHolds;
            Readiness readiness{parts_.services.clock.steady() + holds,
                                ready ? std::nullopt : std::optional(ready.error().message())};
            known = readiness_.insert_or_assign(name, std::move(readiness)).first;
        }
        if (!known->second.reason) {
            return *choice;
        }
        refusals.push_back({name, *known->second.reason});
    }
    return std::nullopt;
}

std::int64_t ModelRouter::window_of(ModelCaller& caller, const ModelChoice& model) {
    if (model.config->window > 0) {
        return model.config->window;
    }
    const auto known = windows_.find(model.config->name);
    if (known != windows_.end()) {
        return known->second;
    }
    const std::int64_t window = caller.window(model, kReadyTimeout);
    if (window > 0) {
        windows_.emplace(model.config->name, window);
    }
    return window;
}

}  // namespace daybook
