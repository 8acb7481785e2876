// The folders of price files: which symbols there are, and their files' content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "plugins/skills/candles/price_file.hpp"

namespace daybook::candles {

/// A symbol is the part of a file's name before "-1m.csv" or "-1d.csv".
struct Symbol {
    std::string name;
    std::filesystem::path minute_file;  ///< empty when there is none
    std::filesystem::path day_file;
};

inline constexpr std::uintmax_t kMaxFileBytes = 32U << 20U;

class PriceFolder {
  public:
    explicit PriceFolder(std::vector<std::filesystem::path> folders)
        : folders_(std::move(folders)) {}

    /// Every symbol, sorted by name. The first folder that has a file wins.
    /// Errors: unavailable (no folder is configured, or one cannot be read; names it).
    [[nodiscard]] Result<std::vector<Symbol>> symbols() const;

    /// The symbol meant by `asked`: case, spaces and "-" do not count ("nifty 50" is NIFTY50), and
    /// a beginning that only one symbol has will do. Errors: not_found (names the symbols there
    /// are), invalid (a beginning that several have), unavailable.
    [[nodiscard]] Result<Symbol> find(std::string_view asked) const;

    /// Reads a file, or gives the copy read before when the file has not changed since. The
    /// reference holds until the next call. Errors: io, corrupt (header), full (over
    /// kMaxFileBytes), refused (not an ordinary file).
    Result<const PriceFile*> load(const std::filesystem::path& path, Resolution resolution);

  private:
    struct Loaded {
        std::filesystem::path path;
        std::filesystem::file_time_type changed;
        std::uintmax_t bytes = 0;
        PriceFile file;
    };
    std::vector<std::filesystem::path> folders_;
    std::optional<Loaded> minute_;
    std::optional<Loaded> day_;
};

}  // namespace daybook::candles
