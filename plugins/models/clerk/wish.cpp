#include "plugins/models/clerk/wish.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <initializer_list>

namespace daybook::clerk {

namespace {

using Words = std::vector<std::string>;

bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return out;
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Words with their case; apostrophes end a word, so that "NIFTY's" is NIFTY.
Words split(std::string_view text) {
    Words words;
    std::string word;
    const auto put = [&] {
        const auto last = word.find_last_not_of(".:-_&");
        word.erase(last == std::string::npos ? 0 : last + 1);
        if (!word.empty() && word != "s") {
            words.push_back(word);
        }
        word.clear();
    };
    for (const char c : text) {
        const bool inside =
            is_letter(c) || is_digit(c) ||
            (!word.empty() && std::string_view(".:-_&").find(c) != std::string_view::npos);
        if (inside) {
            word += c;
        } else {
            put();
        }
    }
    put();
    return words;
}

bool has(const Words& words, std::initializer_list<std::string_view> wanted) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
    });
}

bool is_date(std::string_view word) {
    constexpr std::string_view kShape = "dddd-dd-dd";
    return word.size() == kShape.size() &&
           std::equal(word.begin(), word.end(), kShape.begin(), [](char c, char shape) {
               return shape == 'd' ? is_digit(c) : c == shape;
           });
}

bool is_time(std::string_view word) {
    const bool digits = word.size() == 5 && is_digit(word[0]) && is_digit(word[1]) &&
                        is_digit(word[3]) && is_digit(word[4]);
    return digits && word[2] == ':';
}

/// Words in capitals that are no symbol, and small words that follow "of" or "is".
bool is_plain_word(const std::string& lowered) {
    static constexpr std::array<std::string_view, 66> kPlain = {
        "a",         "about", "all",     "am",       "an",    "and",   "any",   "are",  "at",
        "bar",       "bars",  "candle",  "candles",  "close", "day",   "did",   "do",   "does",
        "eod",       "first", "for",     "from",     "gap",   "gmt",   "going", "good", "here",
        "high",      "i",     "in",      "is",       "ist",   "it",    "last",  "low",  "market",
        "me",        "my",    "no",      "not",      "note",  "now",   "ohlc",  "ok",   "on",
        "open",      "our",   "pm",      "previous", "price", "range", "show",  "that", "the",
        "this",      "today", "trading", "utc",      "we",    "what",  "where", "will", "yes",
        "yesterday", "you",   "your"};
    return std::find(kPlain.begin(), kPlain.end(), lowered) != kPlain.end();
}

bool is_symbol_shape(const std::string& word) {
    const auto capitals =
        std::count_if(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    const bool no_small =
        std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return capitals >= 2 && no_small && word.find(':') == std::string::npos &&
           !is_plain_word(lower(word));
}

/// "NIFTY 50" is one symbol: a short number that is no year follows.
std::string with_number(const Words& words, std::size_t at) {
    if (at + 1 < words.size()) {
        const std::string& next = words[at + 1];
        const bool number = next.size() <= 3 && std::all_of(next.begin(), next.end(), is_digit);
        if (number) {
            return words[at] + next;
        }
    }
    return words[at];
}

/// What follows a word that asks for a note, or nothing. "remember", "please note that", "lesson:".
bool take_note_words(std::string_view text, std::string& note) {
    static constexpr std::array<std::string_view, 6> kPolite = {
        "please ", "clerk, ", "clerk: ", "desk, ", "can you ", "could you "};
    static constexpr std::array<std::string_view, 12> kAsks = {"remember",
                                                               "lesson learned",
                                                               "lesson learnt",
                                                               "lesson",
                                                               "take a note",
                                                               "make a note",
                                                               "note down",
                                                               "note to self",
                                                               "note",
                                                               "write down",
                                                               "write this down",
                                                               "keep in mind"};
    text = trim(text);
    const std::string lowered = lower(text);
    std::string_view small = lowered;
    for (bool again = true; again;) {
        again = false;
        for (const auto polite : kPolite) {
            if (small.starts_with(polite)) {
                small = trim(small.substr(polite.size()));
                again = true;
            }
        }
    }
    for (const auto ask : kAsks) {
        const bool begins = small.starts_with(ask);
        if (!begins || (small.size() > ask.size() && is_letter(small[ask.size()]))) {
            continue;
        }
        std::string_view rest = small.substr(ask.size());
        for (const std::string_view filler : {":", "-", ",", "that ", "this:", ":"}) {
            rest = trim(rest);
            if (rest.starts_with(filler)) {
                rest.remove_prefix(filler.size());
            }
        }
        note = trim(text.substr(text.size() - rest.size()));
        return true;
    }
    return false;
}

void read_when(const Words& words, Wish& wish) {
    for (const auto& word : words) {
        if (is_date(word) || word == "yesterday") {
            wish.date = word;
        } else if (is_time(word)) {
            wish.time = word;
        }
    }
}

void read_fields(const Words& words, Wish& wish) {
    if (has(words, {"gap", "gapped", "gaps"})) {
        wish.fields = {"gap"};
        return;
    }
    const bool all = has(words, {"range", "ohlc"});
    if (all || has(words, {"open", "opened", "opening"})) {
        wish.fields.emplace_back("open");
    }
    if (all || has(words, {"high", "highest"})) {
        wish.fields.emplace_back("high");
    }
    if (all || has(words, {"low", "lowest"})) {
        wish.fields.emplace_back("low");
    }
    if (all || has(words, {"close", "closed", "closing"})) {
        wish.fields.emplace_back("close");
    }
}

bool asks_for_bars(const Words& words, Wish& wish) {
    static constexpr std::array<std::string_view, 5> kIntervals = {"1m", "5m", "15m", "60m", "1d"};
    const auto interval =
        std::find_first_of(words.begin(), words.end(), kIntervals.begin(), kIntervals.end());
    if (interval == words.end() && !has(words, {"bars", "candles", "candle"})) {
        return false;
    }
    wish.interval = interval == words.end() ? "5m" : *interval;
    return true;
}

/// Words that show a question about what is known, not about a judgement.
bool asks_for_price(const Words& words, const Wish& wish) {
    return !wish.fields.empty() ||
           has(words, {"price", "quote", "level", "ltp", "now", "trading", "at"});
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
    Words words = split(text);
    for (auto& word : words) {
        word = lower(word);
    }
    return words;
}

std::string find_symbol(std::string_view text) {
    const Words words = split(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (is_symbol_shape(words[i])) {
            return with_number(words, i);
        }
    }
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        static constexpr std::array<std::string_view, 6> kBefore = {
            "of", "is", "for", "in", "was", "did"};
        const bool follows =
            std::find(kBefore.begin(), kBefore.end(), lower(words[i])) != kBefore.end();
        const std::string& next = words[i + 1];
        if (follows && next.size() > 1 && is_letter(next[0]) && !is_plain_word(lower(next))) {
            return with_number(words, i + 1);
        }
    }
    const bool two =
        words.size() == 2 && lower(words[1]) == "now" && !is_plain_word(lower(words[0]));
    return two ? words[0] : std::string();
}

Wish read_wish(std::string_view text) {
    Wish wish;
    const bool question = trim(text).ends_with('?');
    if (!question && take_note_words(text, wish.note)) {
        wish.kind = WishKind::note;
        return wish;
    }
    wish.note.clear();
    const Words words = words_of(text);
    const bool asks =
        question || has(words, {"what", "which", "list", "show", "any", "read", "tell"});
    read_when(words, wish);
    if (asks && has(words, {"note", "notes", "noted"})) {
        wish.kind = WishKind::list_notes;
        return wish;
    }
    if (asks && has(words, {"memory", "memory.md"})) {
        wish.kind = WishKind::show_memory;
        return wish;
    }
    // A question for a judgement is not answered with a number that happens to be near.
    if (has(words,
            {"should", "why", "predict", "forecast", "tomorrow", "will", "think", "buy", "sell"})) {
        return wish;
    }
    wish.symbol = find_symbol(text);
    if (asks_for_bars(words, wish)) {
        wish.kind = WishKind::bars;
        return wish;
    }
    read_fields(words, wish);
    if (asks_for_price(words, wish) && (!wish.symbol.empty() || asks)) {
        wish.kind = WishKind::price;
    }
    return wish;
}

}  // namespace daybook::clerk
