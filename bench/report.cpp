#include "bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "host/format/json.hpp"

namespace daybook::bench {
namespace {

/// Three or four digits that mean something, whatever the size of the number.
std::string shown(double value) {
    const double size = std::abs(value);
    const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", size == std::floor(size) ? 0 : decimals, value);
    return text;
}

double rounded(double value) {
    constexpr double kSteps = 1e6;
    return std::round(value * kSteps) / kSteps;
}

}  // namespace

Figures figures_of(Samples samples) {
    std::sort(samples.begin(), samples.end());
    const std::size_t count = samples.size();
    const std::size_t middle = count / 2;
    Figures figures;
    figures.min = samples.front();
    figures.median =
        count % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2.0;
    figures.p95 = samples[(count * 95 + 99) / 100 - 1];
    figures.mean =
        std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(count);
    return figures;
}

void Report::row(std::string_view name,
                 std::string_view unit,
                 const Samples& samples,
                 const Samples* floor) {
    if (samples.empty()) {
        return;
    }
    const Figures figures = figures_of(samples);
    std::optional<double> ratio;
    if (floor != nullptr && !floor->empty()) {
        ratio = figures.median / figures_of(*floor).median;
    }
    if (as_json_) {
        const Json line = Json::object()
                              .set("name", name)
                              .set("median", rounded(figures.median))
                              .set("min", rounded(figures.min))
                              .set("p95", rounded(figures.p95))
                              .set("mean", rounded(figures.mean))
                              .set("count", samples.size())
                              .set("unit", unit)
                              .set("ratio_to_floor", ratio ? Json(rounded(*ratio)) : Json());
        std::printf("%s\n", line.dump().c_str());
        std::fflush(stdout);
        return;
    }
    if (!has_head_) {
        std::printf("%-32s %10s %10s %10s %10s  %-8s %9s\n",
                    "name",
                    "median",
                    "min",
                    "p95",
                    "mean",
                    "unit",
                    "to floor");
        has_head_ = true;
    }
    std::printf("%-32s %10s %10s %10s %10s  %-8s %9s\n",
                std::string(name).c_str(),
                shown(figures.median).c_str(),
                shown(figures.min).c_str(),
                shown(figures.p95).c_str(),
                shown(figures.mean).c_str(),
                std::string(unit).c_str(),
                ratio ? (shown(*ratio) + "x").c_str() : "");
    std::fflush(stdout);
}

void Report::row(std::string_view name, std::string_view unit, double value) {
    row(name, unit, Samples{value});
}

void Report::note(std::string_view sentence) const {
    if (!as_json_) {
        std::printf("  %s\n", std::string(sentence).c_str());
        std::fflush(stdout);
    }
}

void Report::progress(std::string_view sentence) {
    std::fprintf(stderr, "first_path: %s\n", std::string(sentence).c_str());
}

}  // namespace daybook::bench
