#include "plugins/skills/candles/price_folder.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>

namespace daybook::candles {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMinuteEnding = "-1m.csv";
constexpr std::string_view kDayEnding = "-1d.csv";
constexpr std::size_t kMaxNamed = 20;

/// What two spellings of a symbol have in common.
std::string plain(std::string_view symbol) {
    std::string out;
    for (const char c : symbol) {
        const auto byte = static_cast<unsigned char>(c);
        if (c != ' ' && c != '-' && c != '_') {
            out += static_cast<char>(std::toupper(byte));
        }
    }
    return out;
}

void add_file(std::map<std::string, Symbol>& symbols, const fs::path& path) {
    const std::string name = path.filename().string();
    const bool minute = name.ends_with(kMinuteEnding);
    if (name.size() <= kMinuteEnding.size() || (!minute && !name.ends_with(kDayEnding))) {
        return;
    }
    const std::string key = name.substr(0, name.size() - kMinuteEnding.size());
    Symbol& symbol = symbols[key];
    symbol.name = key;
    fs::path& place = minute ? symbol.minute_file : symbol.day_file;
    if (place.empty()) {
        place = path;
    }
}

std::string names_of(const std::vector<Symbol>& symbols) {
    std::string names;
    for (std::size_t i = 0; i < symbols.size() && i < kMaxNamed; ++i) {
        names += (i == 0 ? "" : ", ") + symbols[i].name;
    }
    if (symbols.empty()) {
        return "there are none";
    }
    return "there are: " + names + (symbols.size() > kMaxNamed ? ", …" : "");
}

}  // namespace

Result<std::vector<Symbol>> PriceFolder::symbols() const {
    if (folders_.empty()) {
        return Error(Errc::unavailable,
                     "no price folder: give the desk one with reads = [\"FOLDER\"], or set folder "
                     "in the configuration of candles");
    }
    std::map<std::string, Symbol> symbols;
    for (const auto& folder : folders_) {
        std::error_code failure;
        fs::directory_iterator files(folder, failure);
        std::vector<fs::path> found;
        for (; !failure && files != fs::directory_iterator(); files.increment(failure)) {
            found.push_back(files->path());
        }
        if (failure) {
            return Error(Errc::unavailable,
                         "price folder " + folder.string() + ": " + failure.message() +
                             "; check the path, and that reads of the desk names it");
        }
        for (const auto& path : found) {
            add_file(symbols, path);
        }
    }
    std::vector<Symbol> sorted;
    for (auto& [name, symbol] : symbols) {
        sorted.push_back(std::move(symbol));
    }
    return sorted;
}

Result<Symbol> PriceFolder::find(std::string_view asked) const {
    auto known = symbols();
    if (!known) {
        return known.error();
    }
    const std::string wanted = plain(asked);
    std::vector<Symbol> begin_so;
    for (const Symbol& symbol : *known) {
        const std::string name = plain(symbol.name);
        if (name == wanted) {
            return symbol;
        }
        if (!wanted.empty() && name.starts_with(wanted)) {
            begin_so.push_back(symbol);
        }
    }
    if (begin_so.size() == 1) {
        return begin_so.front();
    }
    const std::string quoted = "symbol \"" + std::string(asked.substr(0, 40)) + "\": ";
    return begin_so.empty()
               ? Error(Errc::not_found, quoted + "no price file; " + names_of(*known))
               : Error(Errc::invalid, quoted + "several begin so; " + names_of(begin_so));
}

Result<const PriceFile*> PriceFolder::load(const fs::path& path, Resolution resolution) {
    const std::string name = path.filename().string();
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        return Error(
            failure ? Errc::io : Errc::refused,
            "read " + name + ": " + (failure ? failure.message() : "not an ordinary file"));
    }
    const auto bytes = fs::file_size(path, failure);
    const auto changed = failure ? fs::file_time_type() : fs::last_write_time(path, failure);
    if (failure) {
        return Error(Errc::io, "read " + name + ": " + failure.message());
    }
    if (bytes > kMaxFileBytes) {
        return Error(Errc::full,
                     "read " + name + ": " + std::to_string(bytes) + " bytes, at most " +
                         std::to_string(kMaxFileBytes) + " are read; split the file by years");
    }
    auto& kept = resolution == Resolution::minute ? minute_ : day_;
    if (kept && kept->path == path && kept->changed == changed && kept->bytes == bytes) {
        return &kept->file;
    }
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return Error(Errc::io, "read " + name + ": it cannot be read; check its permissions");
    }
    auto parsed = parse_price_file(text.view(), name, resolution);
    if (!parsed) {
        return parsed.error();
    }
    kept = Loaded{path, changed, bytes, std::move(*parsed)};
    return &kept->file;
}

}  // namespace daybook::candles
