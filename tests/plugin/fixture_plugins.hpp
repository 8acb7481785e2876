// The fixture plugins of tests/fixtures/modules through the real registry and the real runner.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/plugin/runner_bench.hpp"

namespace daybook::test {

inline std::filesystem::path fixture_folder() {
    return std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/fixtures";
}

inline Config config_with(const std::vector<std::string>& names) {
    Config config;
    for (const std::string& name : names) {
        config.plugins[name].name = name;
    }
    return config;
}

/// Every plugin named, loaded once; a runner each, made when asked for.
class Fixtures {
  public:
    Fixtures(Bench& bench, const std::vector<std::string>& names) : bench_(bench) {
        LinuxOs os;
        std::filesystem::create_directories(bench.folder / "state");
        auto loaded =
            Registry::load(os,
                           {{fixture_folder()}, bench.folder / "state", {fixture_folder()}},
                           config_with(names));
        REQUIRE(loaded);
        registry = std::make_unique<Registry>(std::move(*loaded));
        for (const std::string& name : names) {
            INFO(registry->find(name)->refused);
            REQUIRE(registry->find(name)->refused.empty());
        }
    }

    RunnerSettings settings() const {
        RunnerSettings out = bench_.settings(real_runner());
        out.restart.first_delay = std::chrono::milliseconds(0);
        out.restart.breaker = false;
        return out;
    }
    Caller& operator[](const std::string& name) {
        auto& caller = callers_[name];
        if (!caller) {
            caller = std::make_unique<Caller>(bench_, *registry->find(name), settings());
        }
        return *caller;
    }

    std::unique_ptr<Registry> registry;

  private:
    Bench& bench_;
    std::map<std::string, std::unique_ptr<Caller>> callers_;
};

}  // namespace daybook::test
