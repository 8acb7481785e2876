// The desks of the host, each open or at rest.
//
// A desk that had nothing to do for `host.desk_idle` is closed: no thread, no runner, no
// repository, no descriptor. It is opened again by whoever asks for it, and when its rollover falls
// due. A desk is closed by the worker only, while no job runs, and never while somebody holds it;
// so a request on the worker and a job may use a desk that they were given until they end, and
// whatever outlives its request keeps a shared_ptr. Thread: [any] unless said.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/turn/desk.hpp"
#include "host/turn/desk_rest.hpp"

namespace daybook {

class DeskSlots {
  public:
    /// More open desks than this, and one that has nothing to do is closed without waiting.
    static constexpr std::size_t kRoomy = 32;
    /// Desks opened by one look at the clock; the next look goes on.
    static constexpr std::size_t kOpenedAtOnce = 16;

    /// Tells of a desk that was opened or could not be. Called without a lock.
    using Told = std::function<void(const std::string& desk, const std::optional<Error>& failure)>;

    explicit DeskSlots(Told told) : told_(std::move(told)) {}

    /// Adds a desk: at rest when its mark says so and `may_rest`, else opened now. One that has
    /// nothing on the disk yet rests too when `kRoomy` desks are open; it is made when it is first
    /// spoken to. `services` outlives the slots. True: it rests.
    bool add(const DeskServices& services, const DeskConfig& config, bool may_rest);
    /// Opens it when it is at rest, or could not be opened before. Errors: not_found (lists the
    /// desks), unavailable (why it does not open), busy (it is just being given a new
    /// configuration).
    Result<std::shared_ptr<Desk>> get(const std::string& name);
    /// That are open, by name.
    [[nodiscard]] std::vector<std::shared_ptr<Desk>> open() const;
    [[nodiscard]] std::vector<DeskStatus> statuses();
    [[nodiscard]] std::size_t size() const;

    /// Opens what is due, looks at every open desk's clock. True: there is more to open.
    bool tick(Timestamp now);
    /// Closes what has had nothing to do for `idle`. Thread: [worker], while no job runs.
    void rest(std::chrono::seconds idle);
    /// After a desk was stopped at the host's end: leaves its mark when nothing is pending.
    void leave_marks();

    /// Stops the desk (its turn may end within the grace) and opens it under other settings; what
    /// waits, waits on. Thread: a job's. Errors: what keeps it from opening; it is tried again.
    Result<> reopen(const DeskServices& services,
                    const DeskConfig& config,
                    std::chrono::milliseconds grace);
    /// Stops the desk, runs `work` while nobody else has its files open, and opens it again; what
    /// waits, waits on. Who asks for it meanwhile is told busy, and that it `is` ("being …"). The
    /// desk is opened again whatever becomes of `work`. Thread: a job's. Errors: not_found, busy
    /// (it is being opened, or somebody does not let go of it), those of `work`, and what keeps it
    /// from opening.
    Result<> while_closed(const std::string& name,
                          const std::string& is,
                          std::chrono::milliseconds grace,
                          const std::function<Result<>()>& work);
    /// Stops the desk and forgets it; its files stay. Thread: a job's.
    void remove(const std::string& name, std::chrono::milliseconds grace);

  private:
    struct Slot {
        const DeskServices* services = nullptr;
        DeskConfig config;
        std::shared_ptr<Desk> desk;
        std::optional<DeskRest> rest;
        std::optional<Error> failure;
        bool opening = false;  ///< somebody opens or reopens it
        std::string away;      ///< why nobody waits for that: "being …"; "" = it is quick
        SteadyTime busy_at{};  ///< when it was last seen with something to do, or asked for
    };

    Result<std::shared_ptr<Desk>> open_slot(const std::string& name);
    void close_slot(const std::string& name);
    void give_back(const std::string& name);
    /// Ends a desk that is in no slot any more. False: somebody still holds on to it.
    static bool end(std::shared_ptr<Desk> desk, std::chrono::milliseconds grace);

    const Told told_;
    mutable std::mutex mutex_;  // guards the map; never held while a desk is opened or ended
    std::condition_variable changed_;
    std::map<std::string, Slot> slots_;
};

}  // namespace daybook
