// What a plugin asks of http/1, read and checked. No I/O.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config_http.hpp"
#include "host/os/http_client.hpp"

namespace daybook {

/// Reads the value of a credential by its name. Errors: auth (there is none), refused, io.
using CredentialReader = std::function<Result<std::string>(const std::string& name)>;

/// The request of a verb `http/1.begin`, to be sent to one of the origins. Secrets are added for
/// the origins that have one. Errors: invalid (a member), refused (a header that is the host's),
/// auth.
Result<HttpRequest> read_http_ask(std::string_view request_json,
                                  const std::string& body,
                                  const std::vector<OriginConfig>& origins,
                                  const CredentialReader& credential);

/// {"status","url","headers"} of ext/http.h.
[[nodiscard]] std::string head_json(const HttpHead& head);

}  // namespace daybook
