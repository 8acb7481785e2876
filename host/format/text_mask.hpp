// Puts a mask in the place of texts that are to be forgotten: in plain bytes, and in lines of JSON,
// where a text may stand escaped, or in JSON within a string of JSON. What is masked never gets
// longer. No I/O. Thread: [any].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

namespace daybook {

class Json;

class TextMask {
  public:
    static constexpr std::size_t kFewestBytes = 4;

    /// Errors: invalid (no text, or one that is so short that it stands everywhere).
    static Result<TextMask> of(const std::vector<std::string>& texts);

    /// Also puts `to` wherever the hash `from` stands, both 64 hexadecimal digits: hashes of
    /// contents that were masked. is_in() does not look for them.
    void add_hash(std::string from, std::string to);

    [[nodiscard]] bool is_in(std::string_view bytes) const;
    /// Returns how often something was replaced.
    std::uint64_t mask(std::string& bytes) const;
    /// The same of one line of JSON, which stays one. A line that is no JSON is taken as bytes.
    std::uint64_t mask_line(std::string& line) const;

  private:
    void add(std::string from, std::string to);
    std::uint64_t mask_hashes(std::string& bytes) const;
    std::uint64_t mask_json(Json& value, int depth) const;
    std::uint64_t mask_string(std::string& text, int depth) const;
    std::vector<std::pair<std::string, std::string>> replacements_;  ///< longest first
    std::unordered_map<std::string, std::string> hashes_;
};

}  // namespace daybook
