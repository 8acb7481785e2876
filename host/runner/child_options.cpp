#include "host/runner/child_options.hpp"

#include <charconv>
#include <string_view>

namespace daybook::runner {
namespace {

template <class Number>
Result<Number> number_of(std::string_view name, const std::string& value) {
    Number number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || value.starts_with('-')) {
        return Error(Errc::invalid,
                     std::string(name) + " is a whole number, not \"" + value + "\"");
    }
    return number;
}

template <class Number>
Result<> store_number(Number& to, std::string_view name, const std::string& value) {
    const auto number = number_of<Number>(name, value);
    if (!number) {
        return number.error();
    }
    to = *number;
    return {};
}

Result<> store(ChildOptions& options, std::string_view name, const std::string& value) {
    if (name == "--state") {
        options.state_dir = value;
    } else if (name == "--probe-file") {
        options.probe_file = value;
    } else if (name == "--read") {
        options.reads.push_back(value);
    } else if (name == "--run") {
        options.runs.push_back(value);
    } else if (name == "--file-max") {
        return store_number(options.file_max, name, value);
    } else if (name == "--landlock-cap") {
        return store_number(options.landlock_cap, name, value);
    } else if (name == "--port") {
        return store_number(options.ports.emplace_back(), name, value);
    } else if (name == "--isolation") {
        for (const Isolation one : {Isolation::required, Isolation::off}) {
            if (value == name_of(one)) {
                options.isolation = one;
                return {};
            }
        }
        return Error(Errc::unsupported,
                     "a walled child is started with isolation = \"required\" or \"off\", not \"" +
                         value +
                         "\": without Landlock nothing would hold what it reads and writes");
    } else {
        return Error(Errc::invalid, "unknown option " + std::string(name));
    }
    return {};
}

Result<> check(const ChildOptions& options) {
    if (options.command.empty() || options.state_dir.empty() || options.probe_file.empty() ||
        options.file_max == 0) {
        return Error(Errc::invalid,
                     "--state, --probe-file, --file-max and, behind --, a program are needed");
    }
    for (const std::string* path :
         {&options.command.front(), &options.state_dir, &options.probe_file}) {
        if (path->empty() || path->front() != '/') {
            return Error(Errc::invalid, "path is not absolute: " + *path);
        }
    }
    return {};
}

}  // namespace

Result<ChildOptions> parse_child_options(const std::vector<std::string>& words) {
    ChildOptions options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& name = words[i];
        if (name == "--") {
            options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
            break;
        }
        if (name == "--unconfined-network") {
            options.unconfined_network = true;
            continue;
        }
        if (i + 1 >= words.size()) {
            return Error(Errc::invalid, "option " + name + " needs a value");
        }
        if (auto stored = store(options, name, words[++i]); !stored) {
            return stored.error();
        }
    }
    if (auto checked = check(options); !checked) {
        return checked.error();
    }
    return options;
}

}  // namespace daybook::runner
