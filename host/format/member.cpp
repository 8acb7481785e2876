#include "host/format/member.hpp"

namespace daybook {

MemberReader::MemberReader(const Json& object, std::string_view what)
    : object_(object), what_(what) {
    if (!object.is_object()) {
        problem_ = std::string(what) + ": expected an object";
    }
}

void MemberReader::fail(std::string_view key, std::string_view expected) {
    if (problem_.empty()) {
        problem_ = std::string(what_) + ": \"" + std::string(key) + "\": expected " +
                   std::string(expected);
    }
}

Result<> MemberReader::outcome() const {
    if (!problem_.empty()) {
        return Error(Errc::invalid, problem_);
    }
    return {};
}

std::string MemberReader::text(std::string_view key) {
    const Json& value = object_[key];
    if (!value.is_string()) {
        fail(key, "text");
    }
    return value.as_string();
}

std::string MemberReader::optional_text(std::string_view key) {
    const Json& value = object_[key];
    if (!value.is_null() && !value.is_string()) {
        fail(key, "text or null");
    }
    return value.as_string();
}

std::int64_t MemberReader::integer(std::string_view key, std::int64_t low) {
    const Json& value = object_[key];
    if (value.kind() != Json::Kind::integer || value.as_integer() < low) {
        fail(key, "an integer from " + std::to_string(low));
        return low;
    }
    return value.as_integer();
}

std::int64_t MemberReader::optional_integer(std::string_view key,
                                            std::int64_t low,
                                            std::int64_t fallback) {
    return object_[key].is_null() ? fallback : integer(key, low);
}

bool MemberReader::optional_boolean(std::string_view key, bool fallback) {
    const Json& value = object_[key];
    if (!value.is_null() && value.kind() != Json::Kind::boolean) {
        fail(key, "true or false");
    }
    return value.as_bool(fallback);
}

Json MemberReader::optional_object(std::string_view key) {
    const Json& value = object_[key];
    if (value.is_null()) {
        return Json::object();
    }
    if (!value.is_object()) {
        fail(key, "an object");
        return Json::object();
    }
    return value;
}

const Json::Array& MemberReader::optional_items(std::string_view key) {
    const Json& value = object_[key];
    if (!value.is_null() && !value.is_array()) {
        fail(key, "a list");
    }
    return value.items();
}

}  // namespace daybook
