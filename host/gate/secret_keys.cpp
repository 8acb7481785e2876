// Keys: known prefixes, Bearer values, private-key blocks, random-looking runs beside words like
// "token".
#include <algorithm>
#include <array>
#include <cmath>

#include "host/gate/secret_scan.hpp"

namespace daybook {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
bool is_alnum(char c) {
    return is_digit(c) || is_lower(c) || is_upper(c);
}
bool is_key_char(char c) {
    return is_alnum(c) || c == '_' || c == '-';
}
bool is_token_char(char c) {
    return is_key_char(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}

char lower(char c) {
    return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

std::size_t run_length(std::string_view text, std::size_t at, bool (*is_member)(char)) {
    std::size_t end = at;
    while (end < text.size() && is_member(text[end])) {
        ++end;
    }
    return end - at;
}

bool has_digit(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_digit);
}

void add(const FoldedText& folded,
         std::string_view rule,
         std::size_t begin,
         std::size_t end,
         std::vector<SecretFound>& into) {
    SecretFound found{rule, folded.begins[begin], folded.ends[end - 1], ""};
    for (const char c : std::string_view(folded.text).substr(begin, end - begin)) {
        if (c != ' ' && c != '-') {
            found.value += c;
        }
    }
    into.push_back(std::move(found));
}

/// A prefix and how many characters of a key must follow it.
struct KnownPrefix {
    std::string_view text;
    std::string_view rule;
    std::size_t fewest;
    bool needs_digit;
};

constexpr std::array kPrefixes = {
    KnownPrefix{"sk-ant-", "api key", 12, false},
    KnownPrefix{"sk-", "api key", 20, true},
    KnownPrefix{"sk_live_", "api key", 10, false},
    KnownPrefix{"sk_test_", "api key", 10, false},
    KnownPrefix{"rk_live_", "api key", 10, false},
    KnownPrefix{"ghp_", "access token", 20, true},
    KnownPrefix{"gho_", "access token", 20, true},
    KnownPrefix{"ghu_", "access token", 20, true},
    KnownPrefix{"ghs_", "access token", 20, true},
    KnownPrefix{"ghr_", "access token", 20, true},
    KnownPrefix{"github_pat_", "access token", 20, true},
    KnownPrefix{"glpat-", "access token", 16, false},
    KnownPrefix{"xoxb-", "access token", 10, true},
    KnownPrefix{"xoxa-", "access token", 10, true},
    KnownPrefix{"xoxp-", "access token", 10, true},
    KnownPrefix{"xoxs-", "access token", 10, true},
    KnownPrefix{"xapp-", "access token", 10, true},
    KnownPrefix{"AIza", "api key", 30, true},
    KnownPrefix{"ya29.", "access token", 20, true},
    KnownPrefix{"hf_", "access token", 30, true},
    KnownPrefix{"npm_", "access token", 30, true},
    KnownPrefix{"pypi-", "access token", 40, true},
    KnownPrefix{"eyJ", "access token", 30, true},
};

void scan_prefixes(const FoldedText& folded, std::vector<SecretFound>& into) {
    const std::string_view text = folded.text;
    for (const KnownPrefix& prefix : kPrefixes) {
        std::size_t next = 0;
        for (std::size_t at = text.find(prefix.text); at != std::string_view::npos;
             at = text.find(prefix.text, next)) {
            next = at + 1;
            if (at > 0 && is_alnum(text[at - 1])) {
                continue;  // "risk-adjusted-..." is not "sk-..."
            }
            const std::size_t start = at + prefix.text.size();
            const std::size_t length =
                run_length(text, start, prefix.text == "eyJ" ? is_token_char : is_key_char);
            const std::string_view key = text.substr(start, length);
            // Each character is looked at once: what the rest of this run lacks, every later prefix
            // in it lacks too.
            next = std::max(next, start + length);
            const bool is_jwt = prefix.text != "eyJ" || key.find(".eyJ") != std::string_view::npos;
            if (length >= prefix.fewest && is_jwt && (!prefix.needs_digit || has_digit(key))) {
                add(folded, prefix.rule, at, start + length, into);
            }
        }
    }
}

/// "AKIA" and "ASIA", and 16 capitals and digits.
void scan_aws(const FoldedText& folded, std::vector<SecretFound>& into) {
    const std::string_view text = folded.text;
    for (const std::string_view prefix : {std::string_view("AKIA"), std::string_view("ASIA")}) {
        for (std::size_t at = text.find(prefix); at != std::string_view::npos;
             at = text.find(prefix, at + 1)) {
            if (at > 0 && is_alnum(text[at - 1])) {
                continue;
            }
            const std::size_t length =
                run_length(text, at, [](char c) { return is_upper(c) || is_digit(c); });
            const bool ends = at + length >= text.size() || !is_alnum(text[at + length]);
            if (ends && length == 20 && has_digit(text.substr(at, length))) {
                add(folded, "api key", at, at + length, into);
            }
        }
    }
}

/// The same keys with spaces or dashes between their letters. Only prefixes that no words make when
/// they are joined, and only a tail that looks random: capitals, small letters and digits.
void scan_joined(const FoldedText& folded, std::vector<SecretFound>& into) {
    struct Joined {
        std::string_view text;
        std::string_view rule;
        std::size_t length;  ///< of what must follow
    };
    constexpr std::array kJoined = {
        Joined{"skant", "api key", 20},
        Joined{"ghp_", "access token", 30},
        Joined{"github_pat_", "access token", 30},
        Joined{"AKIA", "api key", 16},
        Joined{"xoxb", "access token", 20},
        Joined{"AIza", "api key", 35},
    };
    const FoldedText joined = folded.joined();
    const std::string_view text = joined.text;
    for (const Joined& wanted : kJoined) {
        for (std::size_t at = text.find(wanted.text); at != std::string_view::npos;
             at = text.find(wanted.text, at + 1)) {
            const std::size_t start = at + wanted.text.size();
            const std::string_view rest =
                text.substr(start, std::min(text.size() - start, wanted.length));
            const std::string_view key = rest.substr(0, run_length(rest, 0, is_key_char));
            const bool all_capitals = std::none_of(key.begin(), key.end(), is_lower) &&
                                      std::count_if(key.begin(), key.end(), is_digit) >= 1;
            const bool mixed = std::count_if(key.begin(), key.end(), is_digit) >= 3 &&
                               std::any_of(key.begin(), key.end(), is_lower) &&
                               std::any_of(key.begin(), key.end(), is_upper);
            if (key.size() == wanted.length && (wanted.text == "AKIA" ? all_capitals : mixed)) {
                add(joined, wanted.rule, at, start + key.size(), into);
            }
        }
    }
}

void scan_private_keys(const FoldedText& folded, std::vector<SecretFound>& into) {
    const std::string_view text = folded.text;
    constexpr std::string_view kBegin = "BEGIN ";
    constexpr std::string_view kName = "PRIVATE KEY";
    constexpr std::size_t kMaxLabel = 40;
    std::size_t next = 0;
    for (std::size_t at = text.find(kBegin); at != std::string_view::npos;
         at = text.find(kBegin, next)) {
        next = at + 1;
        const std::size_t name = text.substr(at, kMaxLabel).find(kName);
        if (at < 2 || text[at - 1] != '-' || name == std::string_view::npos) {
            continue;
        }
        const std::size_t end_mark = text.find("END ", at + name);
        const std::size_t end_name =
            end_mark == std::string_view::npos ? end_mark : text.find(kName, end_mark);
        const std::size_t end =
            end_name == std::string_view::npos ? text.size() : end_name + kName.size();
        add(folded, "private key", at, end, into);
        next = end;
    }
}

void scan_bearer(const FoldedText& folded, std::vector<SecretFound>& into) {
    const std::string text = lowered(folded.text);
    constexpr std::string_view kBearer = "bearer";
    constexpr std::size_t kFewest = 16;
    for (std::size_t at = text.find(kBearer); at != std::string::npos;
         at = text.find(kBearer, at + 1)) {
        std::size_t start = at + kBearer.size();
        const std::size_t gap = run_length(
            text, start, [](char c) { return c == ' ' || c == ':' || c == '"' || c == '\''; });
        if (gap == 0) {
            continue;  // and nothing is walked: "bearerbearer..." would be, for each of them
        }
        start += gap;
        const std::size_t length = run_length(folded.text, start, is_token_char);
        if (length >= kFewest && has_digit(std::string_view(folded.text).substr(start, length))) {
            add(folded, "bearer token", start, start + length, into);
        }
    }
}

/// Bits a character, from the run's own letters.
double entropy_of(std::string_view run) {
    std::array<double, 256> counts{};
    for (const char c : run) {
        counts.at(static_cast<unsigned char>(c)) += 1;
    }
    double bits = 0;
    for (const double count : counts) {
        if (count > 0) {
            const double share = count / static_cast<double>(run.size());
            bits -= share * std::log2(share);
        }
    }
    return bits;
}

/// Whether a word that announces a secret stands on the line shortly before.
bool has_announcing_word(std::string_view text, std::size_t at) {
    constexpr std::size_t kReach = 40;
    constexpr std::array<std::string_view, 11> kWords = {"key",
                                                         "keys",
                                                         "token",
                                                         "secret",
                                                         "password",
                                                         "passwd",
                                                         "passphrase",
                                                         "pwd",
                                                         "credential",
                                                         "credentials",
                                                         "apikey"};
    std::size_t start = at > kReach ? at - kReach : 0;
    if (const std::size_t line = text.substr(start, at - start).rfind('\n');
        line != std::string_view::npos) {
        start += line + 1;
    }
    const std::string before = lowered(text.substr(start, at - start));
    std::string word;
    for (const char c : before + " ") {
        if (is_lower(c)) {
            word += c;
            continue;
        }
        if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) {
            return true;
        }
        word.clear();
    }
    return false;
}

void scan_random_runs(const FoldedText& folded, std::vector<SecretFound>& into) {
    constexpr std::size_t kFewest = 32;
    constexpr double kFewestBits = 3.0;
    const std::string_view text = folded.text;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = run_length(text, at, [](char c) {
            return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
        });
        if (length < kFewest) {
            at += length + 1;
            continue;
        }
        const std::string_view run = text.substr(at, length);
        const auto digits = std::count_if(run.begin(), run.end(), is_digit);
        const bool letters =
            std::any_of(run.begin(), run.end(), [](char c) { return is_lower(c) || is_upper(c); });
        if (digits >= 3 && letters && entropy_of(run) >= kFewestBits &&
            has_announcing_word(text, at)) {
            add(folded, "random value beside a word like key or token", at, at + length, into);
        }
        at += length;
    }
}

}  // namespace

void scan_keys(const FoldedText& folded, std::vector<SecretFound>& into) {
    scan_prefixes(folded, into);
    scan_aws(folded, into);
    scan_joined(folded, into);
    scan_private_keys(folded, into);
    scan_bearer(folded, into);
    scan_random_runs(folded, into);
}

}  // namespace daybook
