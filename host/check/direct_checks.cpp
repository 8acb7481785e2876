// Checks of the table between host and plugin: the plugin is loaded into this process, after the
// runner's own walls are up around it, and given tables that end where a page ends.
#include <array>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <daybook/daybook.h>

#include "host/check/checks.hpp"
#include "host/runner/confine.hpp"
#include "host/runner/host_link.hpp"
#include "host/runner/module.hpp"
#include "host/runner/options.hpp"

namespace daybook::check {
namespace {

constexpr int kChannel = 3;
constexpr int kOpenings = 100;
constexpr std::uint32_t kLaterMinor = 7;

// The tables' functions: nothing is served before a call.
void take_log(void* /*ctx*/, std::int32_t /*level*/, daybook_str /*text*/, daybook_str /*json*/) {}
const void* no_extension(void* /*ctx*/, const char* /*id*/) {
    return nullptr;
}
std::int64_t no_deadline(daybook_call* /*call*/) {
    return 0;
}
std::int32_t not_cancelled(daybook_call* /*call*/) {
    return 0;
}
void take_progress(daybook_call* /*call*/, daybook_str /*text*/) {}
daybook_status no_result(daybook_call* /*call*/, daybook_str /*json*/) {
    return DAYBOOK_NOT_FOUND;
}
daybook_status no_failure(daybook_call* /*call*/,
                          daybook_status /*status*/,
                          std::int32_t /*retryable*/,
                          daybook_str /*message*/,
                          daybook_str /*detail*/) {
    return DAYBOOK_NOT_FOUND;
}
daybook_str no_key(daybook_call* /*call*/) {
    return {"", 0};
}

/// The core table at the very end of a page, with a page behind it that nobody may touch.
class EdgeTable {
  public:
    /// `more`: bytes of members that today's plugins do not know.
    EdgeTable(std::uint32_t minor, std::size_t more) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        void* const pages =
            ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) {
            return;
        }
        ::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE);
        const std::size_t bytes = sizeof(daybook_host) + more;
        place_ = static_cast<char*>(pages) + page - bytes;
        std::memset(place_, 0, bytes);
        daybook_host table{};
        table.struct_size = static_cast<std::uint32_t>(bytes);
        table.abi_major = DAYBOOK_ABI_MAJOR;
        table.abi_minor = minor;
        table.host_version = DAYBOOK_VERSION_STRING;
        table.log = take_log;
        table.get_extension = no_extension;
        table.deadline_ns = no_deadline;
        table.cancelled = not_cancelled;
        table.progress = take_progress;
        table.result = no_result;
        table.fail = no_failure;
        table.idempotency_key = no_key;
        std::memcpy(place_, &table, sizeof table);
    }
    [[nodiscard]] const daybook_host* get() const noexcept {
        return reinterpret_cast<const daybook_host*>(place_);
    }

  private:
    char* place_ = nullptr;  // lives as long as the process
};

/// The descriptor, loaded behind the walls of a runner unless a debugger is wanted.
Result<const daybook_plugin*> load(const Subject& subject) {
    if (!subject.in_process) {
        int ends[2] = {-1, -1};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ||
            ::dup2(ends[0], kChannel) != kChannel) {
            return Error(Errc::io, "make a channel");
        }
        std::vector<std::string> words = runner_arguments(subject);
        words.insert(words.begin(), subject.runner.string());
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        const auto options =
            runner::parse_options(static_cast<int>(arguments.size()), arguments.data());
        if (!options) {
            return options.error();
        }
        runner::HostLink link(kChannel);
        static_cast<void>(runner::confine(link, *options));  // or the end of this process, told
    }
    return runner::load_module(subject.file.string(), subject.manifest);
}

/// Opens with the table and closes; "" or the plugin's reason.
std::string open_and_close(const daybook_plugin& plugin,
                           const daybook_host* table,
                           const std::string& config) {
    daybook_instance* instance = nullptr;
    char reason[500] = "";
    if (plugin.open != nullptr) {
        const daybook_status status =
            plugin.open(table, {config.data(), config.size()}, &instance, reason, sizeof reason);
        if (status != DAYBOOK_OK) {
            reason[sizeof reason - 1] = '\0';
            return "open failed with status " + std::to_string(status) + ": " + reason;
        }
    }
    if (plugin.drain != nullptr) {
        plugin.drain(instance);
    }
    if (plugin.close != nullptr) {
        plugin.close(instance);
    }
    return {};
}

Verdict open_with(const Subject& subject, const EdgeTable& table, int times) {
    const auto plugin = load(subject);
    if (!plugin) {
        return fail(plugin.error().message());
    }
    for (int i = 0; i < times; ++i) {
        if (const std::string wrong = open_and_close(**plugin, table.get(), subject.config);
            !wrong.empty()) {
            return fail((times > 1 ? "opening " + std::to_string(i + 1) + ": " : std::string()) +
                        wrong);
        }
    }
    return pass();
}

Verdict unknown_ext_null(const Subject& subject) {
    const auto plugin = load(subject);
    if (!plugin) {
        return fail(plugin.error().message());
    }
    if ((*plugin)->get_extension == nullptr) {
        return pass();
    }
    for (const char* id : {"", "daybook.nothing/1", "daybook.maintenance/1 ", "%s%n"}) {
        if ((*plugin)->get_extension(id) != nullptr) {
            return fail("get_extension(\"" + std::string(id) +
                        "\") gave an interface; wanted NULL for an id that it does not know");
        }
    }
    return pass();
}

Verdict oldest_host(const Subject& subject) {
    return open_with(subject, EdgeTable(0, 0), 1);
}
Verdict newer_host(const Subject& subject) {
    return open_with(subject, EdgeTable(DAYBOOK_ABI_MINOR + kLaterMinor, 8 * sizeof(void*)), 1);
}
Verdict open_close(const Subject& subject) {
    return open_with(subject, EdgeTable(DAYBOOK_ABI_MINOR, 0), kOpenings);
}

constexpr std::array<Check, 4> kChecks{
    {{"unknown-ext-null", 2, "an id that it does not know gives NULL", unknown_ext_null},
     {"old-host-table", 2, "it touches nothing behind the table of the oldest host", oldest_host},
     {"newer-host", 2, "it opens on a later host with more members", newer_host},
     {"open-close-100", 3, "it can be opened and closed a hundred times", open_close}}};

}  // namespace

std::span<const Check> direct_checks() {
    return kChecks;
}

}  // namespace daybook::check
