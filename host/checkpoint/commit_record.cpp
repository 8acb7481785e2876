#include "host/checkpoint/commit_record.hpp"

#include <charconv>
#include <chrono>

#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr std::string_view kAuthor = "daybook <daybook@localhost>";
constexpr std::string_view kAbsent = "absent";
constexpr std::size_t kMaxSubject = 160;
constexpr std::size_t kMaxValue = 1000;
/// Of each list. What is over it is counted in one line, so that a commit stays small.
constexpr std::size_t kMaxListed = 200;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

/// One line: line breaks and other control characters become a space each, then anything else odd
/// is escaped.
std::string one_line(std::string_view text, std::size_t max_bytes) {
    std::string folded(text);
    for (char& c : folded) {
        if (is_control(c)) {
            c = ' ';
        }
    }
    const std::size_t start = folded.find_first_not_of(' ');
    const std::size_t end = folded.find_last_not_of(' ');
    return start == std::string::npos ? ""
                                      : printable(folded.substr(start, end - start + 1), max_bytes);
}

void add(std::string& message, std::string_view key, std::string_view value) {
    const std::string line = one_line(value, kMaxValue);
    if (!line.empty()) {
        message.append(key).append(": ").append(line).append("\n");
    }
}

void add_hash(std::string& message, std::string_view key, const std::optional<std::string>& hash) {
    if (hash) {
        add(message, key, hash->empty() ? kAbsent : std::string_view(*hash));
    }
}

void add_list(std::string& message, std::string_view key, const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < values.size() && i < kMaxListed; ++i) {
        add(message, key, values[i]);
    }
    if (values.size() > kMaxListed) {
        add(message, key, "(" + std::to_string(values.size() - kMaxListed) + " more)");
    }
}

std::string id_text(std::uint64_t number) {
    return "c-" + std::to_string(number);
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

/// The number in "c-12"; 0 for anything else.
std::uint64_t id_number(std::string_view text) {
    return text.starts_with("c-") ? number_of<std::uint64_t>(text.substr(2)).value_or(0) : 0;
}

std::optional<std::string> hash_of(std::string_view text) {
    if (text == kAbsent) {
        return "";
    }
    const bool is_hash =
        text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return is_hash ? std::optional<std::string>(text) : std::nullopt;
}

void read_trailer(CommitRecord& record, std::string_view key, std::string_view value) {
    const auto text = [&](std::string& member) { member = std::string(value); };
    if (key == "Checkpoint") {
        record.number = id_number(value);
    } else if (key == "Written") {
        record.written = id_number(value);
    } else if (key == "Restores") {
        text(record.why.restores);
    } else if (key == "Kind") {
        text(record.kind);
    } else if (key == "Reason") {
        text(record.why.reason);
    } else if (key == "Call") {
        text(record.why.call);
    } else if (key == "Tool") {
        text(record.why.tool);
    } else if (key == "Turn") {
        text(record.why.turn);
    } else if (key == "Promotion") {
        text(record.why.promotion);
    } else if (key == "File") {
        record.file = unquote_path(value).value_or("");
    } else if (key == "Base-Sha256") {
        record.base_sha256 = hash_of(value);
    } else if (key == "Intended-Sha256") {
        record.intended_sha256 = hash_of(value);
    } else if (key == "Sha256") {
        record.left_sha256 = hash_of(value);
    } else if (key == "Skipped") {
        record.skipped.emplace_back(value);
    } else if (key == "Empty-Dir") {
        if (auto folder = unquote_path(value)) {
            record.empty_folders.push_back(std::move(*folder));
        }
    } else if (key == "Mode") {
        record.modes.emplace_back(value);
    }
}

/// "name <mail> 1760848331 +0000" -> the seconds.
std::optional<std::int64_t> seconds_of(std::string_view person) {
    const std::size_t mail_end = person.rfind("> ");
    if (mail_end == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view rest = person.substr(mail_end + 2);
    return number_of<std::int64_t>(rest.substr(0, rest.find(' ')));
}

/// Cuts the first line off. Without a newline the rest is the line.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

/// Git's header, to the empty line. False when a part is missing or malformed.
bool read_header(CommitRecord& record, std::string_view& bytes) {
    bool has_tree = false;
    bool has_time = false;
    while (!bytes.empty()) {
        const std::string_view line = take_line(bytes);
        if (line.empty()) {
            break;
        }
        if (line.starts_with("tree ")) {
            const auto id = GitId::from_hex(line.substr(5));
            has_tree = id.has_value();
            record.tree = id.value_or(GitId{});
        } else if (line.starts_with("parent ") && !record.parent) {
            record.parent = GitId::from_hex(line.substr(7));
            if (!record.parent) {
                return false;
            }
        } else if (line.starts_with("committer ")) {
            const auto seconds = seconds_of(line.substr(10));
            has_time = seconds.has_value();
            record.at = Timestamp(std::chrono::seconds(seconds.value_or(0)));
        }
    }
    return has_tree && has_time;
}

}  // namespace

std::string quote_path(std::string_view path) {
    bool plain = !path.empty() && is_utf8(path) && path.front() != '"' && path.front() != ' ' &&
                 path.back() != ' ';
    for (const char c : path) {
        plain = plain && !is_control(c);
    }
    // one_line must leave it alone: it escapes what may deceive a reader.
    if (plain && one_line(path, kMaxValue) == path) {
        return std::string(path);
    }
    std::string out = "\"";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7F) {
            out += '\\';
            out += static_cast<char>('0' + (byte >> 6U));
            out += static_cast<char>('0' + ((byte >> 3U) & 7U));
            out += static_cast<char>('0' + (byte & 7U));
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::optional<std::string> unquote_path(std::string_view text) {
    if (!text.starts_with('"')) {
        return std::string(text);
    }
    if (text.size() < 2 || !text.ends_with('"')) {
        return std::nullopt;
    }
    text = text.substr(1, text.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        if (++i >= text.size()) {
            return std::nullopt;
        }
        if (text[i] == '"' || text[i] == '\\') {
            out += text[i];
            continue;
        }
        unsigned byte = 0;
        for (std::size_t digit = 0; digit < 3; ++digit) {
            if (i + digit >= text.size() || text[i + digit] < '0' || text[i + digit] > '7') {
                return std::nullopt;
            }
            byte = byte * 8 + static_cast<unsigned>(text[i + digit] - '0');
        }
        i += 2;
        out += static_cast<char>(byte & 0xFFU);
    }
    return out;
}

std::string CommitRecord::encode() const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
    // Git has no times before 1970; a replayed clock may.
    const std::string when = std::to_string(seconds < 0 ? 0 : seconds) + " +0000\n";
    std::string bytes = "tree " + tree.hex() + "\n";
    if (parent) {
        bytes += "parent " + parent->hex() + "\n";
    }
    bytes.append("author ").append(kAuthor).append(" ").append(when);
    bytes.append("committer ").append(kAuthor).append(" ").append(when).append("\n");
    const std::string line = one_line(subject, kMaxSubject);
    bytes.append(line.empty() ? "checkpoint" : line).append("\n\n");
    if (number != 0) {
        add(bytes, "Checkpoint", id_text(number));
    }
    if (written != 0) {
        add(bytes, "Written", id_text(written));
    }
    add(bytes, "Kind", kind);
    add(bytes, "Restores", why.restores);
    add(bytes, "Reason", why.reason);
    add(bytes, "Call", why.call);
    add(bytes, "Tool", why.tool);
    add(bytes, "Turn", why.turn);
    if (!file.empty()) {
        bytes.append("File: ").append(quote_path(file)).append("\n");
    }
    add_hash(bytes, "Base-Sha256", base_sha256);
    add_hash(bytes, "Intended-Sha256", intended_sha256);
    add_hash(bytes, "Sha256", left_sha256);
    add(bytes, "Promotion", why.promotion);
    add_list(bytes, "Skipped", skipped);
    for (std::size_t i = 0; i < empty_folders.size() && i < kMaxListed; ++i) {
        bytes.append("Empty-Dir: ").append(quote_path(empty_folders[i])).append("\n");
    }
    add_list(bytes, "Mode", modes);
    return bytes;
}

Result<CommitRecord> CommitRecord::parse(std::string_view bytes) {
    CommitRecord record;
    if (!read_header(record, bytes)) {
        return Error(Errc::corrupt, "read checkpoint: not a commit");
    }
    record.subject = std::string(take_line(bytes));
    if (!take_line(bytes).empty()) {
        return record;  // not ours: our subject is one line, then an empty one, then nothing but
                        // trailers
    }
    while (!bytes.empty()) {
        const std::string_view line = take_line(bytes);
        const std::size_t colon = line.find(": ");
        if (colon == std::string_view::npos) {
            CommitRecord foreign;
            foreign.tree = record.tree;
            foreign.parent = record.parent;
            foreign.at = record.at;
            foreign.subject = record.subject;
            return foreign;
        }
        read_trailer(record, line.substr(0, colon), line.substr(colon + 2));
    }
    return record;
}

Checkpoint CommitRecord::to_checkpoint() const {
    Checkpoint checkpoint;
    checkpoint.number = number;
    checkpoint.id = id_text(number);
    checkpoint.at = at;
    checkpoint.why = why;
    checkpoint.kind = kind;
    checkpoint.file = file;
    checkpoint.base_sha256 = base_sha256.value_or("");
    checkpoint.intended_sha256 = intended_sha256.value_or("");
    checkpoint.skipped = skipped;
    return checkpoint;
}

}  // namespace daybook
