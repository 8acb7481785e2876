// What a bench run has measured, one row a figure: as a table, or as one JSON object a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook::bench {

using Samples = std::vector<double>;

struct Figures {
    double median = 0, min = 0, p95 = 0, mean = 0;
};

/// `samples` must not be empty. The 95th percentile is by nearest rank.
[[nodiscard]] Figures figures_of(Samples samples);

class Report {
  public:
    explicit Report(bool as_json) : as_json_(as_json) {}

    /// Prints a row at once. `floor` are the samples that the ratio of medians is against, taken in
    /// the same rounds; nullptr = there is nothing to compare with.
    void row(std::string_view name,
             std::string_view unit,
             const Samples& samples,
             const Samples* floor = nullptr);
    /// A figure that is not a series.
    void row(std::string_view name, std::string_view unit, double value);
    /// A sentence about the rows before it; left out of JSON.
    void note(std::string_view sentence) const;
    /// Where the run is, on stderr.
    static void progress(std::string_view sentence);

  private:
    bool as_json_;
    bool has_head_ = false;
};

}  // namespace daybook::bench
