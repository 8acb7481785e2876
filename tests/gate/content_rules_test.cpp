#include "host/gate/content_rules.hpp"

#include <cctype>
#include <chrono>

#include "tests/catch.hpp"

using namespace daybook;

namespace {

DeskPath path(std::string_view text) {
    return *DeskPath::parse(text);
}

/// A twelve-digit number with a right check digit, from eleven.
std::string aadhaar_from(std::string_view eleven) {
    for (char check = '0'; check <= '9'; ++check) {
        const std::string number = std::string(eleven) + check;
        if (find_secret(number) == "aadhaar number") {
            return number;
        }
    }
    return "";
}

}  // namespace

TEST_CASE("keys, tokens and personal numbers are found, by rule", "[gate]") {
    struct Row {
        const char* text;
        const char* rule;
    };
    const Row rows[] = {
        {"use sk-ant-api03-AbCdEf0123456789xyz", "api key"},
        {"sk-proj-0123456789abcdefghij", "api key"},
        {"AKIAIOSFODNN7EXAMPLE", "api key"},
        {"maps AIzaSyA1234567890abcdefghijklmnopqrstuv", "api key"},
        {"ghp_0123456789abcdefghij0123456789abcdef", "access token"},
        {"github_pat_11ABCDEFG0123456789abcdef", "access token"},
        {"xoxb-123456789012-abcdefghijkl", "access token"},
        {"Authorization: Bearer abcdef0123456789abcdef", "bearer token"},
        {"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private key"},
        {"-----BEGIN PRIVATE KEY-----\nMIIE", "private key"},
        {"-----BEGIN OPENSSH PRIVATE KEY-----", "private key"},
        {"api_key = 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
         "random value beside a word like key or token"},
        {"password: Zx8Kq2Lm9Pw4Rt7Yv1Bn6Hd3Fs5Gj0QaWe",
         "random value beside a word like key or token"},
        {"PAN ABCPE1234F", "tax number (PAN)"},
        {"abcpe1234f", "tax number (PAN)"},
        {"ABCPE 1234 F", "tax number (PAN)"},
        {"A-B-C-P-E-1-2-3-4-F", "tax number (PAN)"},
        {"4111111111111111", "card number"},
        {"4111 1111 1111 1111", "card number"},
        {"4111-1111-1111-1111", "card number"},
        {"qty 50, card 5500 0000 0000 0004.", "card number"},
        {"3782 822463 10005", "card number"},
        {"378282246310005", "card number"},
        {"6011000990139424", "card number"},
        {"30569309025904", "card number"},
        {"4222222222222", "card number"},
        {"4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "card number"},
        {"card 41 11 11 11 11 11 11 11", "card number"},
        {"card-4111111111111111", "card number"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto found = find_secret(row.text);
        REQUIRE(found);
        CHECK(*found == row.rule);
    }
}

TEST_CASE("an Aadhaar number is known by its check digit, however it is set", "[gate]") {
    const std::string number = aadhaar_from("23412341234");
    REQUIRE(number.size() == 12);
    std::string wrong = number;
    wrong[11] = number[11] == '9' ? '0' : static_cast<char>(number[11] + 1);
    CHECK_FALSE(find_secret(wrong));
    CHECK_FALSE(find_secret("1" + number.substr(1)) ==
                std::optional<std::string>("aadhaar number"));
    const std::string a = number.substr(0, 4);
    const std::string b = number.substr(4, 4);
    const std::string c = number.substr(8);
    CHECK(find_secret(a + " " + b + " " + c));
    CHECK(find_secret(a + "-" + b + "-" + c));
    CHECK(find_secret("uid: " + a + "\u00a0" + b + "\u2011" + c + "."));
    std::string wide;
    std::string dotted;
    std::string hindi;
    for (const char digit : number) {
        wide += "\xEF\xBC";  // U+FF10 and on
        wide += static_cast<char>(0x90 + (digit - '0'));
        dotted += digit;
        dotted += "\xE2\x80\x8B";  // a zero-width space
        hindi += "\xE0\xA5";       // U+0966 and on
        hindi += static_cast<char>(0xA6 + (digit - '0'));
    }
    CHECK(find_secret(wide) == "aadhaar number");
    CHECK(find_secret(dotted) == "aadhaar number");
    CHECK(find_secret(hindi) == "aadhaar number");
}

TEST_CASE("a key that was taken apart is still found", "[gate]") {
    CHECK(find_secret("A K I A I O S F O D N N 7 E X A M P L E"));
    CHECK(find_secret("AKIA IOSF ODNN 7EXA MPLE"));
    CHECK(find_secret("sk-ant-api03 -AbCd Ef01 2345 6789 Xyz0"));
    CHECK(find_secret("s\u200bk\u200b-ant-api03-AbCdEf0123456789xyz"));
    CHECK(find_secret("\uff21\uff2b\uff29\uff21IOSFODNN7EXAMPLE"));
}

TEST_CASE("what a desk writes every day is not taken for a secret", "[gate]") {
    const char* plain[] = {
        "NIFTY 24350.50 24,350.5 stop 0.8%",
        "levels 24350 24400 24450 24500",
        "levels 4350 4400 4450 4512 and 2435 2440 2450",
        "2435 2440 2451, 4410 4420 4431 4442",
        "2026-10-19 09:15:00 to 2026-10-19 15:30:00",
        "2026-10-19T06:02:11.104233871Z",
        "20261019153000 and 202610191530 and 261019153000 and 20261019153000123",
        "epoch 1760848331104 and 1760848331104233871",
        "main-20261019-000118 main-20261019-000119 main-20261019-000120",
        "checkpoint c-12, turn t-42, promotion p-0142",
        "sha256 5d41402abc4b2a76b9719d911017c592ae5d41402abc4b2a76b9719d911017c5",
        "commit 08260f6aa1b2c3d4e5f60718293a4b5c6d7e8f90",
        "550e8400-e29b-41d4-a716-446655440000",
        "550e8400-e29b-41d4-a716-234123412346",
        "NIFTY24OCT24500CE, BANKNIFTY2410349000PE, NIFTY24O1024500CE",
        "CIPLA 1500 C and CIPLA 1500 P and CIPLA 1500 CE",
        "RELIANCE buy 500 @1432.55, value 716,275 over 500,000",
        "order 1100000012345678, order 2300000000012340",
        "lots 50 75 50 25 75 25 50 40 and 100 250 300 412 98",
        "the key level is 24350; the key takeaway: wait 20 minutes after a gap",
        "bearer of bad news; bearer instruments are out",
        "risk-adjusted-position-sizing-for-gaps-2026-and-later-days",
        "see skills/opening-range-breakout-rules-2026/SKILL.md, the key file",
        "volume 1234567 open interest 8901234",
        "2023 2024 2025",
        "0.80 0.85 0.90 4.1111 1.1111",
        "0000 0000 0000 0000",
        "key points: 1) gap 2) volume 3) reversal",
        "m:7K3Q p:0142",
        "",
    };
    for (const char* text : plain) {
        INFO(text);
        const auto found = find_secret(text);
        INFO(found.value_or(""));
        CHECK_FALSE(found);
        CHECK(mask_secrets(text) == text);
    }
}

TEST_CASE("a day of minute bars in a note raises no alarm", "[gate]") {
    std::string table;
    for (int minute = 0; minute < 375; ++minute) {
        const int open = 2435050 + (minute * 7919) % 4000;
        table += "2026-10-19 " + std::to_string(9 + minute / 60) + ":" +
                 std::to_string(10 + minute % 50) + " ";
        for (int i = 0; i < 4; ++i) {
            table +=
                std::to_string(open / 100 + i) + "." + std::to_string(10 + (open + i) % 90) + " ";
        }
        table += std::to_string(100000 + (minute * 104729) % 900000) + "\n";
    }
    CHECK_FALSE(find_secret(table));
}

TEST_CASE("a text that repeats the start of a secret is looked through once, not once a start",
          "[gate]") {
    // A mebibyte each: with a second look for each start one of these takes minutes.
    constexpr std::size_t kBytes = 1UL << 20;
    constexpr auto kBound = std::chrono::seconds(2);
    for (const std::string piece : {"-sk-1",
                                    "-sk-",
                                    "_ghp_",
                                    ".eyJ",
                                    "-eyJ",
                                    "Bearer ",
                                    "bearer",
                                    "Bearer:",
                                    "bearer a-",
                                    "-AKIA",
                                    "AKIA",
                                    "AIza",
                                    "skant",
                                    "s k a n t ",
                                    "ghp_",
                                    "-BEGIN ",
                                    "-BEGIN PRIVATE KEY",
                                    "-BEGIN PRIVATE KEY END ",
                                    "END ",
                                    "0",
                                    "1 ",
                                    "1-",
                                    "4111 ",
                                    "1234-",
                                    "a-",
                                    "-1a",
                                    "key ",
                                    "token=",
                                    "card 1 ",
                                    "ABCPE1234 ",
                                    "a b ",
                                    "a-123456789012-b",
                                    "123456789012,",
                                    "_-_",
                                    "1.",
                                    "\u200b1",
                                    "key 0123456789abcdef0123456789abcdef",
                                    "4111111111111111 "}) {
        std::string text;
        text.reserve(kBytes + piece.size());
        while (text.size() < kBytes) {
            text += piece;
        }
        INFO("of " << piece);
        const auto begun = std::chrono::steady_clock::now();
        (void)find_secret(text);
        CHECK(mask_secrets(text).size() < 2 * text.size());
        CHECK(std::chrono::steady_clock::now() - begun < kBound);
    }
}

TEST_CASE("masking leaves everything but the secret", "[gate]") {
    CHECK(mask_secrets("pay with 4111 1111 1111 1111 today") ==
          "pay with [masked: card number] today");
    CHECK(mask_secrets("a ABCPE1234F b AKIAIOSFODNN7EXAMPLE c") ==
          "a [masked: tax number (PAN)] b [masked: api key] c");
    const std::string pem =
        "x -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY----- y";
    CHECK(mask_secrets(pem).find("MIIE") == std::string::npos);
    CHECK(mask_secrets("\xff\xfe 4111111111111111 \xff") == "\xff\xfe [masked: card number] \xff");
}

TEST_CASE("a content is refused for secrets, size, and what is not text", "[gate]") {
    const auto notes = path("notes/2026-10-19.md");
    CHECK(check_content(notes, "", "- wait 20 minutes \u20b9\n\tindented\r\n"));
    CHECK(check_content(path("Memory.md"), "", std::string(kMaxMemoryFile, 'a')));
    const auto refused = [&](std::string_view file, std::string_view text) {
        const auto result = check_content(path(file), "", text);
        return !result && result.error().code() == Errc::refused ? result.error().message()
                                                                 : std::string();
    };
    CHECK(refused("Memory.md", std::string(kMaxMemoryFile + 1, 'a')) ==
          "write Memory.md: the file would have 65537 bytes, at most 65536 are allowed");
    CHECK_FALSE(refused("notes/2026-10-19.md", std::string(kMaxNotesFile + 1, 'a')).empty());
    CHECK_FALSE(refused("memory/a.md", std::string(kMaxOtherFile + 1, 'a')).empty());
    CHECK(refused("memory/a.md", "a\nb\xC3(") ==
          "write memory/a.md: the text is not valid UTF-8 in line 2");
    CHECK_FALSE(refused("memory/a.md", std::string("a\0b", 3)).empty());
    CHECK_FALSE(refused("memory/a.md", "a\x1b[2J").empty());
    CHECK_FALSE(refused("memory/a.md", "a\u0085").empty());
    const std::string told = refused("memory/a.md", "my card is 4111 1111 1111 1111");
    CHECK(told == "write memory/a.md: the text holds what looks like a secret (card number)");
    CHECK(told.find("4111") == std::string::npos);
}

TEST_CASE("a secret in two halves is seen when they meet; the owner's own is left alone",
          "[gate]") {
    const auto memory = path("memory/a.md");
    CHECK_FALSE(check_content(memory, "4111 1111 ", "4111 1111 1111 1111"));
    CHECK(check_content(memory, "my PAN ABCPE1234F\n", "my PAN ABCPE1234F\n- a lesson\n"));
    CHECK_FALSE(
        check_content(memory, "my PAN ABCPE1234F\n", "my PAN ABCPE1234F\nhers ABCPE1234G\n"));
}
