#include "bench/plugin_bench.hpp"

namespace daybook::bench {

Result<std::unique_ptr<PluginBench>> PluginBench::open() {
    std::unique_ptr<PluginBench> bench(new PluginBench);
    if (!std::filesystem::exists(DAYBOOK_BENCH_RUNNER)) {
        return Error(Errc::not_found, "daybook-runner is not built");
    }
    std::filesystem::create_directories(bench->folder_ / "desk");
    std::filesystem::create_directories(bench->folder_ / "state");
    bench->folder_.write("probe", "x");
    Config config;
    config.plugins["echo"].name = "echo";
    auto loaded = Registry::load(
        bench->os_,
        {{DAYBOOK_BENCH_FIXTURES}, bench->folder_ / "state", {DAYBOOK_BENCH_FIXTURES}},
        config);
    if (!loaded) {
        return loaded.error();
    }
    bench->registry_ = std::make_unique<Registry>(std::move(*loaded));
    const PluginEntry* echo = bench->registry_->find("echo");
    if (echo == nullptr || !echo->refused.empty()) {
        return Error(Errc::refused,
                     "plugin echo: " + (echo == nullptr ? "not found" : echo->refused));
    }
    return bench;
}

std::unique_ptr<RunnerProcess> PluginBench::make_runner() {
    RunnerSettings settings;
    settings.program = DAYBOOK_BENCH_RUNNER;
    settings.desk_dir = folder_ / "desk";
    settings.desk = "main";
    settings.zone = "UTC";
    settings.probe_file = folder_ / "probe";
    settings.idle = std::chrono::hours(1);
    return std::make_unique<RunnerProcess>(
        io_.loop, inbox_, plugin(), std::move(settings), RunnerEvents{});
}

}  // namespace daybook::bench
