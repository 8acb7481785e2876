#include "host/surface/api_args.hpp"

#include <algorithm>

#include "host/os/desk_path.hpp"

namespace daybook {

const Json& Args::take(std::string_view key) {
    known_.emplace_back(key);
    return args_[key];
}

void Args::note(std::string_view key, std::string_view problem) {
    if (!wrong_) {
        wrong_ =
            Error(Errc::invalid, "argument \"" + std::string(key) + "\": " + std::string(problem));
    }
}

std::string Args::text(std::string_view key, std::size_t max_bytes) {
    if (!args_.has(key)) {
        note(key, "missing");
    }
    return text_or(key, "", max_bytes);
}

std::string Args::text_or(std::string_view key, std::string_view fallback, std::size_t max_bytes) {
    const Json& value = take(key);
    if (value.is_null()) {
        return std::string(fallback);
    }
    if (!value.is_string()) {
        note(key, "a text is wanted");
    } else if (value.as_string().size() > max_bytes) {
        note(key, "longer than " + std::to_string(max_bytes) + " bytes");
    }
    return value.as_string();
}

std::string Args::name(std::string_view key) {
    if (!args_.has(key)) {
        note(key, "missing");
    }
    return name_or(key, "");
}

std::string Args::name_or(std::string_view key, std::string_view fallback) {
    std::string text = text_or(key, fallback);
    if (args_.has(key) && !is_plain_name(text)) {
        note(key,
             printable(text, 64) + " is no name: letters, digits, '.', '_' and '-', at most 64");
    }
    return text;
}

std::int64_t Args::integer_or(std::string_view key,
                              std::int64_t fallback,
                              std::int64_t least,
                              std::int64_t most) {
    const Json& value = take(key);
    if (value.is_null()) {
        return fallback;
    }
    const std::int64_t number = value.as_integer(least - 1);
    if (value.kind() != Json::Kind::integer || number < least || number > most) {
        note(key,
             "a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                 " is wanted");
        return fallback;
    }
    return number;
}

bool Args::flag(std::string_view key) {
    const Json& value = take(key);
    if (!value.is_null() && value.kind() != Json::Kind::boolean) {
        note(key, "true or false is wanted");
    }
    return value.as_bool();
}

std::vector<std::string> Args::texts(std::string_view key) {
    const Json& value = take(key);
    std::vector<std::string> texts;
    if (!value.is_null() && !value.is_array()) {
        note(key, "a list of texts is wanted");
    }
    for (const Json& item : value.items()) {
        if (!item.is_string()) {
            note(key, "a list of texts is wanted");
        }
        texts.push_back(item.as_string());
    }
    return texts;
}

const Json& Args::value(std::string_view key) {
    return take(key);
}

std::optional<Error> Args::wrong() const {
    if (wrong_) {
        return wrong_;
    }
    for (const auto& [key, value] : args_.members()) {
        if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
            std::string names;
            for (const std::string& name : known_) {
                names += (names.empty() ? "" : ", ") + name;
            }
            return Error(Errc::invalid,
                         "argument \"" + printable(key, 64) + "\": unknown" +
                             (names.empty() ? "; none is taken" : "; known are " + names));
        }
    }
    return std::nullopt;
}

}  // namespace daybook
