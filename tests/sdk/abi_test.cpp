// The error table is one: C numbers, C++ codes, names, exit codes.
#include <cstddef>
#include <set>
#include <string>

#include <daybook/daybook.h>
#include <daybook/result.hpp>

#include "tests/catch.hpp"

extern "C" int sdk_headers_has_key(const daybook_host* host);

namespace {

struct Row {
    const char* upper;
    int number;
    bool retryable;
    int exit_code;
};

constexpr Row kRows[] = {
#define DAYBOOK_TEST_ROW(name, number, retryable, exit_code, meaning) \
    {#name, (number), (retryable) != 0, (exit_code)},
    DAYBOOK_STATUS_TABLE(DAYBOOK_TEST_ROW)
#undef DAYBOOK_TEST_ROW
};

std::string lower(std::string text) {
    for (char& c : text) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

}  // namespace

TEST_CASE("every status has its code, its name and its exit code", "[sdk]") {
    std::set<int> numbers;
    for (const Row& row : kRows) {
        INFO(row.upper);
        const daybook::Errc code = daybook::errc_of(row.number);
        CHECK(static_cast<int>(code) == row.number);
        CHECK(daybook::name_of(code) == lower(row.upper));
        CHECK(daybook::is_retryable(code) == row.retryable);
        CHECK(daybook::exit_code_of(code) == row.exit_code);
        CHECK(row.exit_code >= 0);
        CHECK(row.exit_code <= 6);
        CHECK(numbers.insert(row.number).second);
    }
    CHECK(numbers.size() == 24);
}

TEST_CASE("an unknown status is internal", "[sdk]") {
    for (const int number : {-1, 23, 99, 101, 1 << 30}) {
        CHECK(daybook::errc_of(number) == daybook::Errc::internal);
    }
}

TEST_CASE("a member beyond the host's table is not touched", "[sdk]") {
    daybook_host host{};
    host.idempotency_key = [](daybook_call*) { return daybook_str{nullptr, 0}; };
    const std::size_t end = offsetof(daybook_host, idempotency_key) + sizeof host.idempotency_key;
    for (std::size_t size = 0; size <= sizeof host; size += 4) {
        host.struct_size = static_cast<std::uint32_t>(size);
        CHECK((sdk_headers_has_key(&host) != 0) == (size >= end));
    }
    host.struct_size = sizeof host;
    host.idempotency_key = nullptr;
    CHECK(sdk_headers_has_key(&host) == 0);
    CHECK(sdk_headers_has_key(nullptr) == 0);
}
