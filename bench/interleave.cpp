#include "bench/parts.hpp"

namespace daybook::bench {

Result<> interleave(std::vector<Contender>& contenders,
                    int rounds,
                    const std::function<void()>& settle) {
    for (int round = 0; round <= rounds; ++round) {
        for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
            Contender& contender =
                contenders[(turn + static_cast<std::size_t>(round)) % contenders.size()];
            settle();
            auto took = contender.run();
            if (!took) {
                return took.error().during(contender.name);
            }
            if (round > 0) {
                contender.samples.push_back(*took);
            }
        }
    }
    return {};
}

}  // namespace daybook::bench
