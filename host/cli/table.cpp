#include "host/cli/table.hpp"

#include <algorithm>
#include <cstdio>

#include "host/os/utf8.hpp"

namespace daybook::cli {

Table::Table(std::vector<std::string> headers) {
    rows_.push_back(std::move(headers));
}

void Table::add(std::vector<std::string> cells) {
    cells.resize(rows_.front().size());
    rows_.push_back(std::move(cells));
}

std::string Table::str() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::string out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            line.append(widths[i] - width_of(row[i]) + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::size_t width_of(std::string_view text) noexcept {
    std::size_t width = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        width += byte >= 0x20 && byte != 0x7F && (byte & 0xC0U) != 0x80U ? 1U : 0U;
    }
    return width;
}

std::string size_text(std::int64_t bytes) {
    char text[32];
    if (bytes < 1024) {
        std::snprintf(text, sizeof text, "%lld B", static_cast<long long>(bytes));
    } else if (bytes < 1024LL * 1024) {
        std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
    } else {
        std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1024.0 * 1024));
    }
    return text;
}

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    const std::size_t first = digits.front() == '-' ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string duration_text(std::int64_t seconds) {
    const std::int64_t minutes = seconds / 60;
    const std::int64_t hours = minutes / 60;
    if (minutes == 0) {
        return std::to_string(seconds) + "s";
    }
    if (hours == 0) {
        return std::to_string(minutes) + "m" + std::to_string(seconds % 60) + "s";
    }
    if (hours < 48) {
        return std::to_string(hours) + "h" + std::to_string(minutes % 60) + "m";
    }
    return std::to_string(hours / 24) + "d" + std::to_string(hours % 24) + "h";
}

std::string shortened(std::string_view text, std::size_t columns) {
    std::string flat;
    for (const char c : text) {
        const bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';
        if (!blank) {
            flat += c;
        } else if (!flat.empty() && flat.back() != ' ') {
            flat += ' ';
        }
    }
    if (width_of(flat) <= columns || columns == 0) {
        return flat;
    }
    std::string out;
    std::size_t at = 0;
    for (std::size_t taken = 0; taken + 1 < columns && at < flat.size(); ++taken) {
        const std::size_t length = std::max<std::size_t>(utf8_sequence_at(flat, at), 1);
        out += flat.substr(at, length);
        at += length;
    }
    return out + "…";
}

}  // namespace daybook::cli
