// A request that is answered by a long job.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/surface/reply.hpp"
#include "host/surface/worker.hpp"

namespace daybook {

/// Runs `work` as the job of that name and gives its outcome to the asker, who may then ask for the
/// same at once; a job that cannot start is told too. Thread: [any].
inline void answer_by_job(Jobs& jobs,
                          const std::string& name,
                          std::function<Result<Json>(const std::stop_token&)> work,
                          const std::shared_ptr<Reply>& reply) {
    auto outcome = std::make_shared<Result<Json>>(Error(Errc::internal, name + ": no outcome"));
    auto started = jobs.start(
        name,
        [outcome, work = std::move(work)](const std::stop_token& stop) { *outcome = work(stop); },
        [outcome, reply] { reply->done(std::move(*outcome)); });
    if (!started) {
        reply->done(started.error());
    }
}

}  // namespace daybook
