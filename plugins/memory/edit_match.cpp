#include "plugins/memory/edit_match.hpp"

#include <algorithm>
#include <cstdint>

#include "plugins/memory/cut_text.hpp"
#include "plugins/memory/note.hpp"

namespace daybook::memory {

namespace {

constexpr std::size_t kShownLines = 8;
constexpr std::size_t kShownBytes = 160;

/// Pairs of neighbouring bytes, sorted: what two lines are compared by.
std::vector<std::uint16_t> pairs_of(std::string_view line) {
    std::vector<std::uint16_t> pairs;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        pairs.push_back(static_cast<std::uint16_t>(static_cast<unsigned char>(line[i]) << 8U |
                                                   static_cast<unsigned char>(line[i + 1])));
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

/// Dice's coefficient, 0 to 1.
double likeness(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
    if (a.empty() || b.empty()) {
        return 0;
    }
    std::vector<std::uint16_t> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return 2.0 * static_cast<double>(both.size()) / static_cast<double>(a.size() + b.size());
}

std::string first_line_with_words(std::string_view text) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string line = fold_to_line(text.substr(0, end));
        if (!line.empty()) {
            return line;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

std::string list_of(const std::vector<std::size_t>& lines) {
    std::string out;
    for (std::size_t i = 0; i < lines.size() && i < kShownLines; ++i) {
        out += (i == 0 ? "" : ", ") + std::to_string(lines[i]);
    }
    return lines.size() > kShownLines ? out + ", …" : out;
}

}  // namespace

std::vector<std::size_t> lines_of(std::string_view content, std::string_view wanted) {
    std::vector<std::size_t> lines;
    if (wanted.empty()) {
        return lines;
    }
    std::size_t line = 1;
    std::size_t counted = 0;
    for (auto at = content.find(wanted); at != std::string_view::npos;
         at = content.find(wanted, at + 1)) {
        line += static_cast<std::size_t>(
            std::count(content.begin() + static_cast<std::ptrdiff_t>(counted),
                       content.begin() + static_cast<std::ptrdiff_t>(at),
                       '\n'));
        counted = at;
        lines.push_back(line);
    }
    return lines;
}

NearestLine nearest_line(std::string_view content, std::string_view wanted) {
    constexpr double kLikeEnough = 0.4;
    constexpr std::size_t kComparedBytes = 400;  // keeps hostile lines cheap
    const auto target =
        pairs_of(std::string_view(first_line_with_words(wanted)).substr(0, kComparedBytes));
    NearestLine nearest;
    double best = kLikeEnough;
    for (std::size_t number = 1; !content.empty(); ++number) {
        const auto end = std::min(content.find('\n'), content.size());
        const auto line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        const std::string folded = fold_to_line(line.substr(0, kComparedBytes));
        if (const double like = likeness(target, pairs_of(folded)); like > best) {
            best = like;
            nearest = {number, std::string(cut_to_bytes(line, kShownBytes))};
        }
    }
    return nearest;
}

std::string explain_mismatch(std::string_view path,
                             std::string_view content,
                             std::string_view wanted) {
    const auto lines = lines_of(content, wanted);
    if (lines.size() == 1) {
        return {};
    }
    std::string sentence = "edit " + std::string(path) + ": the old text occurs ";
    if (lines.size() > 1) {
        return sentence + std::to_string(lines.size()) + " times, on lines " + list_of(lines) +
               "; give more of the text around it, so that it occurs once";
    }
    sentence += "nowhere in the file";
    if (fold_to_line(content).find(fold_to_line(wanted)) != std::string::npos) {
        sentence += " with that white space and those line ends";
    }
    const auto nearest = nearest_line(content, wanted);
    if (nearest.line != 0) {
        sentence += "; nearest is line " + std::to_string(nearest.line) + ": " + nearest.text;
    }
    return sentence + "; read the file and copy the text exactly";
}

}  // namespace daybook::memory
