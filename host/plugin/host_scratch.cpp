// scratch/1: where the plugin's private folder is.
#include "host/plugin/host_verbs.hpp"
#include "host/plugin/scratch_folder.hpp"

namespace daybook::verbs {

Result<std::string> serve_scratch(const VerbCall& call, const Arguments& arguments) {
    const VerbContext& context = call.context;
    if (call.function != "folder" || !context.scratch_of) {
        return not_served(call.verb);
    }
    if (auto count = want_count(call.verb, arguments, 0); !count) {
        return count.error();
    }
    const ScratchFolder* folder = context.scratch_of(call.leash.plugin);
    if (folder == nullptr) {
        return Error(Errc::refused,
                     std::string(call.verb) + ": plugin " + call.leash.plugin +
                         " does not run in the wall profile scratch");
    }
    auto bytes = folder->measure();
    if (!bytes) {
        return bytes.error();
    }
    return Json::object()
        .set("path", folder->path().string())
        .set("bytes", static_cast<std::int64_t>(*bytes))
        .set("max_bytes", static_cast<std::int64_t>(folder->bounds().max_bytes))
        .dump();
}

}  // namespace daybook::verbs
