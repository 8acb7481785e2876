// Origins in the configuration: where a plugin or a model may reach, and with which credential.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/format/toml_text.hpp"

namespace daybook {

/// Headers that may carry a credential; in "authorization" it stands behind "Bearer ".
inline constexpr std::array<std::string_view, 4> kCredentialHeaders{
    "authorization", "x-api-key", "api-key", "x-goog-api-key"};

struct OriginConfig {
    std::string url;                ///< "https://api.example.com"; what follows the host is ignored
    std::string credential;         ///< by name only; "" = none
    std::string credential_header;  ///< of kCredentialHeaders; "" = as the plugin asks
    bool private_network = false;   ///< plain http, and names that stand for private addresses
};

/// Tells a problem at its place.
using ConfigProblem = std::function<void(TomlPlace, const std::string&)>;

/// `origins = ["https://a.example", {url = "http://gpu-box:8000", private_network = true}]`.
[[nodiscard]] std::vector<OriginConfig> read_origins(const TomlNode& list,
                                                     const ConfigProblem& problem);
/// What is wrong with the origin's url; "" = nothing.
[[nodiscard]] std::string url_problem(const OriginConfig& origin);
/// The keys credential, credential_header and private_network of a table.
void read_access(const TomlNode& table, OriginConfig& out, const ConfigProblem& problem);

}  // namespace daybook
