#include "host/checkpoint/log_record.hpp"

#include <cstring>

namespace daybook {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kNumberBytes = 8;

void put_number(std::string& out, std::uint64_t value) {
    for (std::size_t i = 0; i < kNumberBytes; ++i) {
        out += static_cast<char>((value >> (8U * i)) & 0xFFU);
    }
}

void put_text(std::string& out, std::string_view text) {
    put_number(out, text.size());
    out += text;
}

void put_maybe(std::string& out, const std::optional<std::string>& text) {
    out += text ? '\1' : '\0';
    if (text) {
        put_text(out, *text);
    }
}

/// Reads what the functions above write. After the first mistake everything is empty and `failed`
/// is set.
struct Reader {
    std::string_view rest;
    bool failed = false;

    std::string_view take(std::uint64_t count) {
        if (failed || count > rest.size()) {
            failed = true;
            return {};
        }
        const std::string_view piece = rest.substr(0, count);
        rest.remove_prefix(count);
        return piece;
    }
    std::uint64_t number() {
        const std::string_view bytes = take(kNumberBytes);
        std::uint64_t value = 0;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
        }
        return value;
    }
    std::string text() { return std::string(take(number())); }
    bool flag() {
        const std::string_view byte = take(1);
        return !byte.empty() && byte.front() != '\0';
    }
    std::optional<std::string> maybe() {
        return flag() ? std::optional<std::string>(text()) : std::nullopt;
    }
};

void put_change(std::string& out, const LoggedChange& change) {
    put_text(out, change.path);
    out += change.file ? '\1' : '\0';
    if (change.file) {
        put_number(out, change.file->mode);
        out.append(reinterpret_cast<const char*>(change.file->id.bytes.data()),
                   change.file->id.bytes.size());
    }
    put_maybe(out, change.bytes);
}

LoggedChange read_change(Reader& reader) {
    LoggedChange change;
    change.path = reader.text();
    if (reader.flag()) {
        TreeFile file;
        file.mode = static_cast<unsigned>(reader.number());
        const std::string_view id = reader.take(file.id.bytes.size());
        if (!reader.failed) {
            std::memcpy(file.id.bytes.data(), id.data(), id.size());
        }
        change.file = file;
    }
    change.bytes = reader.maybe();
    return change;
}

LoggedWrite read_write(Reader& reader) {
    LoggedWrite write;
    write.path = reader.text();
    write.base_sha256 = reader.text();
    write.intended_sha256 = reader.text();
    write.content = reader.maybe();
    write.base_inode = reader.number();
    write.base_modified = static_cast<std::int64_t>(reader.number());
    return write;
}

}  // namespace

std::string LogRecord::encode() const {
    std::string out;
    out += kVersion;
    put_number(out, settles);
    put_text(out, commit);
    put_number(out, changes.size());
    for (const LoggedChange& change : changes) {
        put_change(out, change);
    }
    out += write ? '\1' : '\0';
    if (write) {
        put_text(out, write->path);
        put_text(out, write->base_sha256);
        put_text(out, write->intended_sha256);
        put_maybe(out, write->content);
        put_number(out, write->base_inode);
        put_number(out, static_cast<std::uint64_t>(write->base_modified));
    }
    return out;
}

Result<LogRecord> LogRecord::decode(std::string_view bytes) {
    Reader reader{bytes};
    const std::string_view version = reader.take(1);
    LogRecord record;
    if (version.empty() || version.front() != kVersion) {
        return Error(Errc::corrupt, "read record: unknown version");
    }
    record.settles = reader.number();
    record.commit = reader.text();
    const std::uint64_t count = reader.number();
    for (std::uint64_t i = 0; i < count && !reader.failed; ++i) {
        record.changes.push_back(read_change(reader));
    }
    if (reader.flag()) {
        record.write = read_write(reader);
    }
    if (reader.failed || !reader.rest.empty()) {
        return Error(Errc::corrupt, "read record: malformed");
    }
    return record;
}

}  // namespace daybook
