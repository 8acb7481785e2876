#include "host/format/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

// RapidJSON's asserts are for programming errors; here they throw and are caught in parse().
#define RAPIDJSON_ASSERT(x) ((x) ? static_cast<void>(0) : throw std::logic_error("RapidJSON: " #x))
#define RAPIDJSON_HAS_STDSTRING 1
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "host/os/desk_path.hpp"
#include "host/os/utf8.hpp"

namespace daybook {
namespace {

const Json kNull;
const std::string kNoText;
const Json::Array kNoItems;
const Json::Object kNoMembers;

/// "line 3, column 14" of a byte offset; columns count bytes from 1.
std::string position(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t column =
        newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The first key that stands twice, or nullptr. Sorting keeps a hostile object from costing its
/// square.
const std::string* duplicate_key(const Json::Object& members) {
    if (members.size() < 2) {
        return nullptr;
    }
    std::vector<const std::string*> keys;
    keys.reserve(members.size());
    for (const Json::Member& member : members) {
        keys.push_back(&member.first);
    }
    std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a < *b; });
    const auto twice = std::adjacent_find(
        keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a == *b; });
    return twice == keys.end() ? nullptr : *twice;
}

/// Builds a Json from the reader's events. Returning false stops the reader; `problem` then says
/// why.
class Builder {
  public:
    explicit Builder(const JsonLimits& limits) : limits_(limits) {}

    bool Null() { return put(Json()); }
    bool Bool(bool value) { return put(Json(value)); }
    // Numbers come as text (kParseNumbersAsStringsFlag), so these are never called.
    bool Int(int) { return stop("unexpected number"); }
    bool Uint(unsigned) { return stop("unexpected number"); }
    bool Int64(std::int64_t) { return stop("unexpected number"); }
    bool Uint64(std::uint64_t) { return stop("unexpected number"); }
    bool Double(double) { return stop("unexpected number"); }
    bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
        return number({text, length});
    }
    bool String(const char* text, rapidjson::SizeType length, bool) {
        return checked({text, length}) && put(Json(std::string(text, length)));
    }
    bool Key(const char* text, rapidjson::SizeType length, bool) {
        if (!checked({text, length})) {
            return false;
        }
        keys_.emplace_back(text, length);
        return true;
    }
    bool StartObject() { return start(Json::object()); }
    bool StartArray() { return start(Json::array()); }
    bool EndObject(rapidjson::SizeType) {
        if (const std::string* key = duplicate_key(open_.back().members())) {
            return stop("the key \"" + printable(*key) + "\" stands twice in one object");
        }
        return end();
    }
    bool EndArray(rapidjson::SizeType) { return end(); }

    std::string problem;
    Json root;

  private:
    bool stop(std::string why) {
        problem = std::move(why);
        return false;
    }
    /// Not left to RapidJSON, whose exact reading makes a huge number of 0.0e120. The text has a
    /// number's form already.
    bool number(std::string_view text) {
        const char* const end = text.data() + text.size();
        if (text.find_first_of(".eE") == std::string_view::npos) {
            std::int64_t whole = 0;
            if (std::from_chars(text.data(), end, whole).ec == std::errc()) {
                return put(Json(whole));
            }
        }
        double value = 0;
        if (std::from_chars(text.data(), end, value).ec != std::errc()) {
            long double wide = 0;  // too near to zero becomes zero
            const auto error = std::from_chars(text.data(), end, wide).ec;
            if (error != std::errc() || std::fabs(wide) > 1) {
                return stop("a number is too large");
            }
            value = 0;
        }
        return std::isfinite(value) ? put(Json(value)) : stop("a number is too large");
    }
    bool checked(std::string_view text) {
        if (text.size() > limits_.max_string_bytes) {
            return stop("a string is longer than " + std::to_string(limits_.max_string_bytes) +
                        " bytes");
        }
        if (text.find('\0') != std::string_view::npos) {
            return stop("a string holds NUL");
        }
        return is_utf8(text) || stop("a string holds a lone surrogate");
    }
    bool start(Json container) {
        if (open_.size() >= static_cast<std::size_t>(std::max(limits_.max_depth, 0))) {
            return stop("nested deeper than " + std::to_string(limits_.max_depth));
        }
        open_.push_back(std::move(container));
        return true;
    }
    bool end() {
        Json done = std::move(open_.back());
        open_.pop_back();
        return put(std::move(done));
    }
    bool put(Json value) {
        if (open_.empty()) {
            root = std::move(value);
        } else if (open_.back().is_array()) {
            open_.back().push(std::move(value));
        } else {
            // Not set(): it would look for the key; EndObject finds duplicates in one go.
            open_.back().append_member(std::move(keys_.back()), std::move(value));
            keys_.pop_back();
        }
        return true;
    }

    const JsonLimits& limits_;
    std::vector<Json> open_;
    std::vector<std::string> keys_;
};

Error malformed(std::string_view text, std::size_t offset, std::string_view why) {
    return Error(Errc::invalid, "JSON, " + position(text, offset) + ": " + std::string(why));
}

/// RapidJSON's sentence without its full stop.
std::string reason_of(rapidjson::ParseErrorCode code) {
    std::string text = rapidjson::GetParseError_En(code);
    while (!text.empty() && text.back() == '.') {
        text.pop_back();
    }
    return text;
}

void write_string(std::string& out, std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_sequence_at(text, i);
        const char c = text[i];
        if (length == 0) {
            out += "\xEF\xBF\xBD";  // what is written is always valid UTF-8
        } else if (length > 1) {
            out += text.substr(i, length);
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (c == '\r') {
            out += "\\r";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += kHex[static_cast<unsigned char>(c) >> 4U];
            out += kHex[static_cast<unsigned char>(c) & 0x0FU];
        } else {
            out += c;
        }
        i += length == 0 ? 1 : length;
    }
    out += '"';
}

template <class Number>
void write_number(std::string& out, Number value) {
    std::array<char, 32> text = {};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    const std::string_view shown(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
    out += shown;
    if (std::is_floating_point_v<Number> && shown.find_first_of(".e") == std::string_view::npos) {
        out += ".0";  // reads back as the same kind
    }
}

void new_line(std::string& out, int indent, int level) {
    if (indent > 0) {
        out += '\n';
        out.append(static_cast<std::size_t>(indent * level), ' ');
    }
}

void write_value(std::string& out, const Json& value, int indent, int level) {
    switch (value.kind()) {
        case Json::Kind::null:
            out += "null";
            return;
        case Json::Kind::boolean:
            out += value.as_bool() ? "true" : "false";
            return;
        case Json::Kind::integer:
            write_number(out, value.as_integer());
            return;
        case Json::Kind::number:
            if (std::isfinite(value.as_number())) {
                write_number(out, value.as_number());
            } else {
                out += "null";  // JSON has no infinity and no NaN
            }
            return;
        case Json::Kind::string:
            write_string(out, value.as_string());
            return;
        case Json::Kind::array: {
            out += '[';
            const char* separator = "";
            for (const Json& item : value.items()) {
                out += std::exchange(separator, ",");
                new_line(out, indent, level + 1);
                write_value(out, item, indent, level + 1);
            }
            if (!value.items().empty()) {
                new_line(out, indent, level);
            }
            out += ']';
            return;
        }
        case Json::Kind::object: {
            out += '{';
            const char* separator = "";
            for (const Json::Member& member : value.members()) {
                out += std::exchange(separator, ",");
                new_line(out, indent, level + 1);
                write_string(out, member.first);
                out += indent > 0 ? ": " : ":";
                write_value(out, member.second, indent, level + 1);
            }
            if (!value.members().empty()) {
                new_line(out, indent, level);
            }
            out += '}';
            return;
        }
    }
}

}  // namespace

Json Json::array(Array items) {
    Json json;
    json.kind_ = Kind::array;
    json.array_ = std::move(items);
    return json;
}

Json Json::object(Object members) {
    Json json;
    json.kind_ = Kind::object;
    json.object_ = std::move(members);
    return json;
}

Result<Json> Json::parse(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.max_bytes) {
        return Error(Errc::full,
                     "JSON: " + std::to_string(text.size()) + " bytes are over the limit of " +
                         std::to_string(limits.max_bytes));
    }
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_sequence_at(text, i);
        if (length == 0 || text[i] == '\0') {
            return malformed(text, i, length == 0 ? "not valid UTF-8" : "a NUL byte");
        }
        i += length;
    }
    try {
        Builder builder(limits);
        rapidjson::MemoryStream stream(text.data(), text.size());
        rapidjson::Reader reader;
        // Iterative, so that depth costs no stack; numbers as text, see Builder::number.
        constexpr unsigned kFlags =
            rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
        const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
        if (result.IsError()) {
            return malformed(text,
                             result.Offset(),
                             builder.problem.empty() ? reason_of(result.Code()) : builder.problem);
        }
        return std::move(builder.root);
    } catch (const std::exception& error) {
        return Error(Errc::invalid, std::string("JSON: ") + error.what());
    }
}

std::string Json::dump() const {
    std::string out;
    write_value(out, *this, 0, 0);
    return out;
}

std::string Json::dump_pretty() const {
    std::string out;
    write_value(out, *this, 2, 0);
    return out;
}

bool Json::as_bool(bool fallback) const noexcept {
    return kind_ == Kind::boolean ? boolean_ : fallback;
}

std::int64_t Json::as_integer(std::int64_t fallback) const noexcept {
    if (kind_ == Kind::integer) {
        return integer_;
    }
    // A number without a fraction ("5.0") is an integer to its reader; 2^63 itself does not fit.
    constexpr double kEnd = 9223372036854775808.0;
    if (kind_ == Kind::number && number_ >= -kEnd && number_ < kEnd &&
        std::trunc(number_) == number_) {
        return static_cast<std::int64_t>(number_);
    }
    return fallback;
}

double Json::as_number(double fallback) const noexcept {
    return kind_ == Kind::number    ? number_
           : kind_ == Kind::integer ? static_cast<double>(integer_)
                                    : fallback;
}

const std::string& Json::as_string() const noexcept {
    return kind_ == Kind::string ? string_ : kNoText;
}
const Json::Array& Json::items() const noexcept {
    return kind_ == Kind::array ? array_ : kNoItems;
}
const Json::Object& Json::members() const noexcept {
    return kind_ == Kind::object ? object_ : kNoMembers;
}

const Json& Json::operator[](std::string_view key) const noexcept {
    for (const Member& member : members()) {
        if (member.first == key) {
            return member.second;
        }
    }
    return kNull;
}

bool Json::has(std::string_view key) const noexcept {
    return std::any_of(members().begin(), members().end(), [&](const Member& member) {
        return member.first == key;
    });
}

Json& Json::set(std::string_view key, Json value) {
    kind_ = kind_ == Kind::null ? Kind::object : kind_;
    for (Member& member : object_) {
        if (member.first == key) {
            member.second = std::move(value);
            return *this;
        }
    }
    return append_member(std::string(key), std::move(value));
}

Json& Json::append_member(std::string key, Json value) {
    object_.emplace_back(std::move(key), std::move(value));
    return *this;
}

Json& Json::push(Json value) {
    kind_ = kind_ == Kind::null ? Kind::array : kind_;
    array_.push_back(std::move(value));
    return *this;
}

bool is_utf8(std::string_view bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size();) {
        const std::size_t length = utf8_sequence_at(bytes, i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

}  // namespace daybook
