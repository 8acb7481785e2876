// What a hostile runner may send.
#include "host/plugin/channel.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"
#include "tests/support/mutate.hpp"

using namespace daybook;
using namespace daybook::channel;
using namespace daybook::test;

namespace {
constexpr int kRounds = 20'000;
}

TEST_CASE("any sequence of damaged frames gives messages within the limits or ends", "[fuzz]") {
    std::vector<std::string> samples;
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{200}}) {
        samples.push_back(must(encode({MessageType::verb, 3, std::string(size, 'v')})).front());
    }
    for (const std::string& frame :
         must(encode({MessageType::result, 9, std::string(kMaxFramePayload * 2 + 5, 'r')}))) {
        samples.push_back(frame);
    }
    Mutator mutator(1);
    int whole = 0;
    int refused = 0;
    Assembler assembler;
    for (int round = 0; round < kRounds; ++round) {
        const std::string frame = mutator.below(4) == 0 ? samples[mutator.below(samples.size())]
                                                        : mutator.damaged(samples);
        const auto taken = assembler.take(std::span<const char>(frame.data(), frame.size()),
                                          mutator.below(50) == 0);
        if (!taken) {
            REQUIRE(taken.error().code() == Errc::plugin_protocol);
            ++refused;
            assembler = Assembler();  // the connection is over
        } else if (*taken) {
            REQUIRE((*taken)->payload.size() <= kMaxMessageBytes);
            ++whole;
        }
    }
    CHECK(whole > 100);
    CHECK(refused > 100);
}

TEST_CASE("fields never reach outside their payload", "[fuzz]") {
    const std::vector<std::string> samples = {
        FieldWriter().add("desk-files/1.read").add("notes/x.md").add_number(7).take(),
        FieldWriter().add("").add(std::string(300, 'x')).take(),
        std::string("\xff\xff\xff\xff", 4)};
    Mutator mutator(2);
    for (int round = 0; round < kRounds; ++round) {
        const std::string payload = mutator.damaged(samples);
        FieldReader reader(payload);
        std::size_t total = 0;
        while (const auto field = reader.next()) {
            REQUIRE(field->data() >= payload.data());
            REQUIRE(field->data() + field->size() <= payload.data() + payload.size());
            total += field->size() + 4;
        }
        REQUIRE(total <= payload.size());
        FieldReader numbers(payload);
        while (numbers.next_number()) {
        }
    }
}
