// daybook-runner --child PROGRAM: see child.hpp. Otherwise:
//
// daybook-runner: confines itself, proves that the walls stand, and only then loads one plugin for
// one desk.
//
// Descriptor 3 is the channel to the host. The order of the steps is the point of this program:
// nothing of the plugin runs before the last wall was seen to hold.
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "host/runner/child.hpp"
#include "host/runner/confine.hpp"
#include "host/runner/exit_codes.hpp"
#include "host/runner/host_link.hpp"
#include "host/runner/module.hpp"
#include "host/runner/options.hpp"
#include "host/runner/server.hpp"
#include "host/runner/start_report.hpp"
#include "host/runner/walls.hpp"

#ifdef DAYBOOK_UNDER_SANITIZER
// The leak checker needs ptrace, which the walls refuse.
extern "C" const char*
__asan_default_options();  // NOLINT(bugprone-reserved-identifier): the run-time library's name
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}
#endif

namespace daybook::runner {
namespace {

constexpr int kChannel = 3;

[[noreturn]] void run(int argc, char** argv) {
    HostLink link(kChannel);
    const Options options = need(link, "options", kExitOptions, parse_options(argc, argv));
    if (options.attach_wait) {
        ::raise(SIGSTOP);
    }
    const Walls walls = confine(link, options);
    const Manifest manifest = need(link, "manifest", kExitManifest, read_manifest(options.module));
    const daybook_plugin* plugin =
        need(link, "load", kExitLoad, load_module(options.module, manifest));
    const std::string descriptor =
        need(link, "descriptor", kExitDescriptor, check_descriptor(*plugin, manifest));
    channel::FieldWriter fields;
    fields.add(walls_json(walls, options)).add(descriptor);
    if (!link.send({channel::MessageType::ready, 0, fields.take()})) {
        ::_exit(EXIT_SUCCESS);  // the host is gone
    }
    Server(kChannel, link, *plugin, manifest.wants).run();
}

}  // namespace
}  // namespace daybook::runner

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--child") {
        daybook::runner::run_child(argc, argv);
    }
    daybook::runner::run(argc, argv);
}
