// The desk's models in order: the first ready one runs the turn; after a failure a table says what
// comes next. Source of the table: docs/formats.md, "Errors". Thread: [desk].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/turn/model_call.hpp"

namespace daybook {

enum class AfterModelError {
    next_model,  ///< with the conversation so far
    fail,        ///< the turn fails with the reason
    cancelled,   ///< the turn ends as cancelled
};
/// An unknown class is treated as model_fault.
[[nodiscard]] AfterModelError after_model_error(std::string_view error_class) noexcept;

struct ModelRefusal {
    std::string model, reason;
};

class ModelRouter {
  public:
    /// How long an answer of `ready` holds.
    static constexpr std::chrono::milliseconds kReadyHolds{5000};
    static constexpr std::chrono::milliseconds kNotReadyHolds{900};

    explicit ModelRouter(DeskParts& parts) : parts_(parts) {}

    /// The first ready model that is not in `excluded`; without one, `refusals` tells why not, a
    /// model a line.
    std::optional<ModelChoice> pick(ModelCaller& caller,
                                    const std::set<std::string>& excluded,
                                    std::vector<ModelRefusal>& refusals);
    /// Tokens of the model's window; 0 = unknown. The configuration's word goes first, the backend
    /// is asked once.
    std::int64_t window_of(ModelCaller& caller, const ModelChoice& model);
    /// What a failed turn told of the model's readiness.
    void forget(const std::string& model) { readiness_.erase(model); }
    /// The model that was asked last in a turn of the desk's conversation; "" = none since the
    /// start.
    [[nodiscard]] const std::string& holder() const noexcept { return holder_; }
    void set_holder(const std::string& model) { holder_ = model; }
    /// Other plugins stand behind the models now.
    void forget_all() {
        readiness_.clear();
        windows_.clear();
    }

  private:
    struct Readiness {
        SteadyTime until;
        std::optional<std::string> reason;  ///< nullopt = ready
    };
    Result<ModelChoice> find(const std::string& name) const;

    DeskParts& parts_;
    std::map<std::string, Readiness> readiness_;
    std::map<std::string, std::int64_t> windows_;
    std::string holder_;
};

}  // namespace daybook
