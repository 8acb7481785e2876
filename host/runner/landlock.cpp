// Landlock around a plugin: what the process may read, and for profile scratch where it may write.
#include <fcntl.h>
#include <filesystem>
#include <string>

#include "host/runner/landlock_ruleset.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr std::uint64_t kRead = rights::kReadFile | rights::kReadDir;

// Libraries, time zones, locales, random bytes: what a plugin needs to be loaded and to compute.
constexpr const char* kSystemReads[] = {"/usr/lib",
                                        "/lib",
                                        "/lib64",
                                        "/etc/ld.so.cache",
                                        "/etc/localtime",
                                        "/usr/share/zoneinfo",
                                        "/usr/lib/locale",
                                        "/dev/urandom"};

/// Lets the profile's scratch folder be changed. The host has made it; a link in its place is
/// refused.
Result<> grant_scratch(LandlockRuleset& ruleset, const Options& options) {
    auto granted = ruleset.grant(
        options.scratch_dir, kRead | rights::kChange | rights::kTruncate, O_DIRECTORY | O_NOFOLLOW);
    if (!granted) {
        return granted.error().during("writing there");
    }
    return *granted
               ? Result<>()
               : Result<>(Error(Errc::io,
                                "grant writing below " + options.scratch_dir + ": no such folder"));
}

Result<> grant_all(LandlockRuleset& ruleset,
                   const Options& options,
                   std::vector<std::string>& missing_reads) {
    for (const char* path : kSystemReads) {  // not every system has each of them
        if (auto granted = ruleset.grant(path, kRead); !granted) {
            return granted.error();
        }
    }
    const std::string module_dir = std::filesystem::path(options.module).parent_path().string();
    for (const std::string& path : {module_dir, options.desk_dir}) {
        auto granted = ruleset.grant(path, kRead);
        if (!granted) {
            return granted.error();
        }
        if (!*granted) {
            return Error(Errc::io, "grant reading of " + path + ": no such folder");
        }
    }
    for (const std::string& path : options.reads) {
        auto granted = ruleset.grant(path, kRead);
        if (!granted) {
            return granted.error();
        }
        if (!*granted) {
            missing_reads.push_back(path);
        }
    }
    return {};
}

Error no_landlock(const Options& options) {
    return Error(Errc::unsupported,
                 options.is_scratch()
                     ? "this kernel offers no Landlock, and without it profile scratch would "
                       "write anywhere: use a kernel from 5.13 with lsm=landlock"
                     : "this kernel offers no Landlock, so reading cannot be confined: use a "
                       "kernel from 5.13 with "
                       "lsm=landlock, or set isolation = \"seccomp-only\" on your own word");
}

}  // namespace

Result<int> apply_landlock(const Options& options, std::vector<std::string>& missing_reads) {
    auto ruleset = LandlockRuleset::create(options.landlock_cap);
    if (!ruleset && ruleset.error().code() == Errc::unsupported) {
        const bool is_accepted =
            options.isolation == Isolation::seccomp_only && !options.is_scratch();
        return is_accepted ? Result<int>(0) : Result<int>(no_landlock(options));
    }
    if (!ruleset) {
        return ruleset.error();
    }
    if (auto granted = grant_all(*ruleset, options, missing_reads); !granted) {
        return granted.error();
    }
    if (options.is_scratch()) {
        if (auto granted = grant_scratch(*ruleset, options); !granted) {
            return granted.error();
        }
    }
    if (auto entered = ruleset->enter(); !entered) {
        return entered.error();
    }
    return ruleset->abi();
}

}  // namespace daybook::runner
