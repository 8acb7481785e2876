// What a model was shown, told to the host's log: a walled plugin can write no file. One request
// becomes one text, cut into numbered pieces of a log line each; tests/story puts them together.
//
// "request <number> <piece>/<pieces> <part of the JSON string>"
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/call.hpp>

namespace story {

/// Longest text of one part or message that is told; the rest is told as its number of bytes.
inline constexpr std::size_t kMaxShown = 900;
/// Of a piece: a line of the log holds 1,000 bytes.
inline constexpr std::size_t kPiece = 900;

inline bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

inline std::string shortened(std::string_view text) {
    if (text.size() <= kMaxShown) {
        return std::string(text);
    }
    std::size_t end = kMaxShown;
    while (end > 0 && continues_character(text[end])) {
        --end;
    }
    return std::string(text.substr(0, end)) + " (and " + std::to_string(text.size() - end) +
           " bytes more)";
}

inline std::string describe_message(const daybook::json::ObjectReader& message) {
    const std::string role = message.text("role");
    std::string line = "[" + role;
    for (const char* member : {"source", "kind", "name", "trigger", "status", "at"}) {
        const std::string value = message.text(member);
        line += value.empty() ? "" : " " + value;
    }
    line += "] " + shortened(message.text("text"));
    for (const std::string_view call : daybook::json::items_of(message.raw("tool_calls"))) {
        const daybook::json::ObjectReader one(call);
        line += "\n  calls " + one.text("name") + " " + shortened(one.raw("arguments"));
    }
    return line;
}

/// The request without what is the same every time (configuration, instructions, schemas).
inline std::string describe_request(std::string_view request) {
    using daybook::json::items_of;
    using daybook::json::ObjectReader;
    const ObjectReader whole(request);
    std::string text = "== " + whole.text("turn") + " " + whole.text("kind") + " by " +
                       whole.text("model") + " in " + whole.text("session") + " at " +
                       whole.text("now");
    const std::string resume = whole.text("resume");
    text += resume.empty() ? "\n" : " resumes " + resume + "\n";
    for (const std::string_view each : items_of(whole.raw("parts"))) {
        const ObjectReader part(each);
        const std::string name = part.text("name");
        const std::string shown = part.text("text");
        const bool is_fixed = name == "instructions" || name == "skills";
        text += shown.empty()
                    ? ""
                    : "<" + name + "> " +
                          (is_fixed ? std::to_string(shown.size()) + " bytes" : shortened(shown)) +
                          "\n";
    }
    text += "<tools>";
    for (const std::string_view tool : items_of(whole.raw("tools"))) {
        text += " " + ObjectReader(tool).text("name");
    }
    text += "\n";
    for (const std::string_view message : items_of(whole.raw("messages"))) {
        text += describe_message(ObjectReader(message)) + "\n";
    }
    for (const std::string_view name : items_of(whole.raw("left_out"))) {
        text += "left out: " + std::string(name) + "\n";
    }
    return text;
}

inline void record_request(const daybook::Call& call, std::size_t number, std::string_view text) {
    const std::string quoted = daybook::json::quote(text);
    std::vector<std::string_view> pieces;
    for (std::size_t start = 0; start < quoted.size();) {
        std::size_t end = std::min(quoted.size(), start + kPiece);
        while (end < quoted.size() && continues_character(quoted[end])) {
            --end;
        }
        pieces.push_back(std::string_view(quoted).substr(start, end - start));
        start = end;
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        call.log(DAYBOOK_LOG_INFO,
                 "request " + std::to_string(number) + " " + std::to_string(i + 1) + "/" +
                     std::to_string(pieces.size()) + " " + std::string(pieces[i]));
    }
}

}  // namespace story
