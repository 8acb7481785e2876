// Texts to be forgotten are masked wherever they stand, also escaped and in JSON within JSON.
#include "host/format/text_mask.hpp"

#include "host/format/json.hpp"
#include "tests/catch.hpp"

using namespace daybook;

namespace {

std::string masked(const TextMask& mask, std::string line) {
    mask.mask_line(line);
    return line;
}

}  // namespace

TEST_CASE("a text is masked in plain bytes, escaped, and in JSON within a string", "[format]") {
    const std::string secret = "pass \"word\"\n\\ 1\u00e9";
    const TextMask mask = *TextMask::of({secret});
    std::string plain = "a " + secret + " b " + secret;
    CHECK(mask.mask(plain) == 2);
    CHECK(plain == "a [forgotten] b [forgotten]");
    const Json inner = Json::object().set("text", secret).set("n", 1);
    const Json line = Json::object().set("seq", 7).set("text", inner.dump());
    const std::string out = masked(mask, line.dump());
    CHECK(out == R"({"seq":7,"text":"{\"text\":\"[forgotten]\",\"n\":1}"})");
    // Other escapes than ours: read, they are the same text.
    CHECK(masked(mask, R"({"t":"pass \u0022word\u0022\u000a\u005c 1\u00e9","x":1})") ==
          R"({"t":"[forgotten]","x":1})");
    CHECK(masked(mask, R"({"t":"{\"a\":\"pass \\u0022word\\u0022\\n\\\\ 1\\u00e9\"}"})") ==
          R"({"t":"{\"a\":\"[forgotten]\"}"})");
    const std::string other = R"({"t":"pass \"word\"","x":1.50})";
    CHECK(masked(mask, other) == other);
}

TEST_CASE("a mask is never longer than the text, and tells nothing of it", "[format]") {
    for (const std::string text : {"1234", "0123456789", "01234567890", "a long, long secret"}) {
        std::string bytes = text;
        CHECK(TextMask::of({text})->mask(bytes) == 1);
        CHECK(bytes.size() <= text.size());
        CHECK(bytes.find_first_of("0123456789") == std::string::npos);
    }
    CHECK(TextMask::of({"123"}).error().code() == Errc::invalid);
    CHECK(TextMask::of({}).error().code() == Errc::invalid);
    CHECK(TextMask::of({"good enough", ""}).error().code() == Errc::invalid);
}

TEST_CASE("hashes of masked contents are put in place of the former ones", "[format]") {
    TextMask mask = *TextMask::of({"secret"});
    mask.add_hash(std::string(64, 'a'), std::string(64, 'b'));
    std::string bytes = "x " + std::string(64, 'a') + " y" + std::string(65, 'a') + "\n";
    CHECK(mask.mask(bytes) == 1);
    CHECK(bytes == "x " + std::string(64, 'b') + " y" + std::string(65, 'a') + "\n");
}
