// What most commands begin with: the places, a connection, the desk that is meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/cli/client.hpp"
#include "host/cli/options.hpp"
#include "host/cli/output.hpp"

namespace daybook::cli {

/// A connected command: prints why it is not, so that a command only returns `code`.
class Connected {
  public:
    Connected(const Options& options, Output& output);

    explicit operator bool() const noexcept { return client_.has_value(); }
    /// Exit code when there is no connection.
    [[nodiscard]] int code() const noexcept { return code_; }
    [[nodiscard]] Client& client() { return *client_; }
    [[nodiscard]] const Places& places() const noexcept { return places_; }

  private:
    Places places_;
    std::optional<Client> client_;
    int code_ = 0;
};

/// A command's words taken apart: the desk, and the rest.
struct DeskWords {
    std::string desk;
    std::vector<std::string> rest;
};

/// The desk comes from --desk, else from the first word when there are more than `fixed` words;
/// with neither, it is the host's only desk. Errors: invalid (several desks, none named), those of
/// the host.
Result<DeskWords> take_desk(Client& client, const Options& options, std::size_t fixed);

/// "daybook WORDS" with the flags that name the same host again, for advice that can be copied.
[[nodiscard]] std::string same_host(const Options& options, const std::string& words);

/// The options' places, or the error printed.
std::optional<Places> places_of(const Options& options, Output& output);

}  // namespace daybook::cli
