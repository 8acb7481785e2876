#include "tests/escape/verdict_table.hpp"

#include <sstream>
#include <stdexcept>

namespace daybook::escape {
namespace {

constexpr std::string_view kBetween = " / ";

std::string first_line() {
    std::string line = "attempt\twhat it tries";
    for (const Column& column : kColumns) {
        line += std::string("\t") + column.name;
    }
    return line;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) {
        fields.push_back(field);
    }
    return fields;
}

Cell parse_cell(const std::string& text) {
    const auto at = text.find(kBetween);
    return at == std::string::npos ? Cell{text, text}
                                   : Cell{text.substr(0, at), text.substr(at + kBetween.size())};
}

}  // namespace

std::vector<Row> parse_table(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::string line;
    if (!std::getline(in, line) || line != first_line()) {
        throw std::runtime_error("expected.tsv: its first line names other columns");
    }
    std::vector<Row> rows;
    while (std::getline(in, line)) {
        const auto fields = split(line);
        if (fields.size() != 2 + kColumnCount) {
            throw std::runtime_error("expected.tsv: " + line);
        }
        Row row{fields[0], fields[1], {}};
        for (std::size_t i = 2; i < fields.size(); ++i) {
            row.cells.push_back(parse_cell(fields[i]));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string format_table(const std::vector<Row>& rows) {
    std::string out = first_line() + "\n";
    for (const Row& row : rows) {
        out += row.attempt + "\t" + row.text;
        for (const Cell& cell : row.cells) {
            out += "\t" + cell.text();
        }
        out += "\n";
    }
    return out;
}

}  // namespace daybook::escape
