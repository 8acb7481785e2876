// Serves http/1 for one call: starts its exchanges and answers its verbs when there is something to
// answer.
//
// The transfers run on the I/O thread; a change is posted to the desk's inbox and looked at there.
// Thread: [desk].
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/plugin/call.hpp"
#include "host/plugin/http_ask.hpp"

namespace daybook {

/// What http/1 works on in one call. Borrowed; outlives the call.
struct HttpAccess {
    HttpClient* client = nullptr;  ///< nullptr: not served
    DeskInbox* inbox = nullptr;
    std::vector<OriginConfig> origins;  ///< as the owner wrote them
    CredentialReader credential;
};

class HostHttp {
  public:
    static constexpr std::size_t kMaxOpen = 16;
    /// Bytes that a call may receive and send in all its exchanges.
    static constexpr std::uint64_t kMaxReceived = 512UL << 20U;
    static constexpr std::uint64_t kMaxSent = 512UL << 20U;
    static constexpr std::size_t kMaxRead = 256UL * 1024;  ///< in one answer

    HostHttp(HttpAccess access, SteadyTime deadline);
    /// Closes what is open.
    ~HostHttp();
    HostHttp(const HostHttp&) = delete;
    HostHttp& operator=(const HostHttp&) = delete;
    HostHttp(HostHttp&&) = delete;
    HostHttp& operator=(HostHttp&&) = delete;

    /// `function` is "begin", "send", "head", "read" or "close".
    void serve(std::string_view function,
               const std::vector<std::string>& arguments,
               VerbServer::Reply reply);
    void give_up(const Error& why);

  private:
    /// A verb that waits.
    struct Waiting {
        std::int64_t exchange = 0;
        std::string function;
        std::vector<std::string> arguments;
        VerbServer::Reply reply;
    };

    Result<std::string> begin(const std::vector<std::string>& arguments);
    /// nullopt: not yet.
    std::optional<Result<std::string>> try_answer(const Waiting& waiting);
    std::optional<Result<std::string>> try_read(HttpExchange& exchange, const Waiting& waiting);
    std::optional<Result<std::string>> try_send(HttpExchange& exchange, const Waiting& waiting);
    void look();

    HttpAccess access_;
    SteadyTime deadline_;
    std::optional<Error> over_;
    std::int64_t next_ = 1;
    std::map<std::int64_t, std::unique_ptr<HttpExchange>> open_;
    std::list<Waiting> waiting_;
    std::uint64_t received_ = 0;
    std::uint64_t sent_ = 0;
    std::shared_ptr<HostHttp*> self_;  ///< what is posted to the inbox finds nothing afterwards
};

}  // namespace daybook
