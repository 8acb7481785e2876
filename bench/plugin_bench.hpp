// What a plugin's call needs: an I/O thread, an inbox, the registry with the plugin `echo`,
// runners.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "host/plugin/call.hpp"
#include "host/plugin/registry.hpp"
#include "host/plugin/runner_process.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::bench {

using test::IoThread;

class PluginBench {
  public:
    /// Errors: not_found (the runner or the plugin is not built), refused (it does not load).
    static Result<std::unique_ptr<PluginBench>> open();

    [[nodiscard]] std::unique_ptr<RunnerProcess> make_runner();
    [[nodiscard]] const PluginEntry& plugin() const { return *registry_->find("echo"); }
    DeskInbox& inbox() { return inbox_; }

  private:
    PluginBench() = default;

    test::TempFolder folder_;
    LinuxOs os_;
    std::unique_ptr<Registry> registry_;
    DeskInbox inbox_;
    IoThread io_;  // ends first: nothing is posted afterwards
};

}  // namespace daybook::bench
