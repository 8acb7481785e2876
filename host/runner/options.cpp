#include "host/runner/options.hpp"

#include <charconv>
#include <string_view>

namespace daybook::runner {
namespace {

Result<Isolation> parse_isolation(std::string_view text) {
    for (const Isolation one : {Isolation::required, Isolation::seccomp_only, Isolation::off}) {
        if (text == name_of(one)) {
            return one;
        }
    }
    return Error(Errc::invalid,
                 "--isolation is required, seccomp-only or off, not \"" + std::string(text) + "\"");
}

/// A whole number from 0 on.
template <class Number>
Result<> store_number(Number& to, std::string_view name, const std::string& value) {
    Number number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || value.starts_with('-')) {
        return Error(Errc::invalid,
                     std::string(name) + " is a whole number, not \"" + value + "\"");
    }
    to = number;
    return {};
}

Result<> store(Options& options, std::string_view name, const std::string& value) {
    if (name == "--module") {
        options.module = value;
    } else if (name == "--desk-dir") {
        options.desk_dir = value;
    } else if (name == "--plugin") {
        options.plugin = value;
    } else if (name == "--desk") {
        options.desk = value;
    } else if (name == "--profile") {
        options.profile = value;
    } else if (name == "--read") {
        options.reads.push_back(value);
    } else if (name == "--probe-file") {
        options.probe_file = value;
    } else if (name == "--isolation") {
        auto isolation = parse_isolation(value);
        if (!isolation) {
            return isolation.error();
        }
        options.isolation = *isolation;
    } else if (name == "--landlock-cap") {
        return store_number(options.landlock_cap, name, value);
    } else if (name == "--scratch-dir") {
        options.scratch_dir = value;
    } else if (name == "--scratch-max") {
        return store_number(options.scratch_max, name, value);
    } else {
        return Error(Errc::invalid, "unknown option " + std::string(name));
    }
    return {};
}

Result<> check(const Options& options) {
    if (options.module.empty() || options.desk_dir.empty() || options.plugin.empty() ||
        options.desk.empty()) {
        return Error(Errc::invalid, "--module, --desk-dir, --plugin and --desk are needed");
    }
    for (const std::string* path : {&options.module, &options.desk_dir}) {
        if (path->front() != '/') {
            return Error(Errc::invalid, "path is not absolute: " + *path);
        }
    }
    if (options.profile != "pure" && options.profile != "scratch") {
        return Error(Errc::unsupported,
                     "profile is pure or scratch, not \"" + options.profile + "\"");
    }
    if (options.is_scratch() != !options.scratch_dir.empty() ||
        options.is_scratch() != (options.scratch_max > 0)) {
        return Error(
            Errc::invalid,
            "--scratch-dir and --scratch-max belong to profile scratch, all three or none");
    }
    if (options.is_scratch() && options.scratch_dir.front() != '/') {
        return Error(Errc::invalid, "path is not absolute: " + options.scratch_dir);
    }
    // Its write wall is Landlock alone: a path is a pointer that the filter cannot read.
    if (options.is_scratch() && options.isolation == Isolation::off) {
        return Error(Errc::unsupported, "profile scratch is not served without walls");
    }
    return {};
}

}  // namespace

std::string_view name_of(Isolation isolation) noexcept {
    switch (isolation) {
        case Isolation::seccomp_only:
            return "seccomp-only";
        case Isolation::off:
            return "off";
        case Isolation::required:
            break;
    }
    return "required";
}

Result<Options> parse_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--attach-wait") {
            options.attach_wait = true;
            continue;
        }
        if (i + 1 >= argc) {
            return Error(Errc::invalid, "option " + std::string(name) + " needs a value");
        }
        if (auto stored = store(options, name, argv[++i]); !stored) {
            return stored.error();
        }
    }
    if (auto checked = check(options); !checked) {
        return checked.error();
    }
    return options;
}

}  // namespace daybook::runner
