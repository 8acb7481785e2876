// HTTP for a plugin in C++ ("daybook.http/1"): a request, its answer, and the events of a stream.
//
//     daybook::HttpResponse answer = daybook::post_json(call, url + "/chat/completions", body);
//     if (answer.status() != 200) {
//         throw daybook::PluginError(DAYBOOK_UNAVAILABLE, answer.text(4096));
//     }
//     for (daybook::ServerEvent event; answer.next_event(event);) {
//         turn.text(event.data);
//     }
//
// The manifest must want "daybook.http/1". Every function throws PluginError with the host's status
// and sentence (ext/http.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/call.hpp>
#include <daybook/ext/http.h>
#include <daybook/json.hpp>

namespace daybook {

/// A request; what is 0 or empty keeps the host's own measure.
struct HttpAsk {
    std::string method = "GET";
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::string credential_header;  ///< where the server wants its key, e.g. "x-api-key"
    std::int64_t connect_ms = 0, first_byte_ms = 0, idle_ms = 0, max_bytes = 0;
    bool compressed = false;
    bool body_follows = false;     ///< the rest comes with HttpResponse::send()
    std::int64_t body_bytes = -1;  ///< of the whole body when it follows; -1 = not known
};

/// One event of a text/event-stream.
struct ServerEvent {
    std::string name;  ///< of its `event:` line, or ""
    std::string data;  ///< of its `data:` lines, joined with LF
};

/// The answer to a request. Open until it goes; lives in the call, on one thread at a time.
class HttpResponse {
  public:
    /// Longest line and longest data of an event; a longer one throws FULL.
    static constexpr std::size_t kMaxLine = 4UL << 20U;

    HttpResponse(const Call& call, const HttpAsk& ask) : call_(call), http_(&table(call)) {
        json::ObjectWriter headers;
        for (const auto& [name, value] : ask.headers) {
            headers.add(name, value);
        }
        json::ObjectWriter request;
        request.add("method", ask.method).add("url", ask.url).add_raw("headers", headers.str());
        const auto add_number = [&](const char* name, std::int64_t number, std::int64_t unset) {
            if (number != unset) {
                request.add(name, number);
            }
        };
        add_number("connect_ms", ask.connect_ms, 0);
        add_number("first_byte_ms", ask.first_byte_ms, 0);
        add_number("idle_ms", ask.idle_ms, 0);
        add_number("max_bytes", ask.max_bytes, 0);
        add_number("body_bytes", ask.body_bytes, -1);
        if (!ask.credential_header.empty()) {
            request.add("credential_header", ask.credential_header);
        }
        request.add("compressed", ask.compressed).add("body_follows", ask.body_follows);
        const std::string text = request.str();
        check([&](void* to, daybook_sink sink) {
            return http_->begin(call_.handle(),
                                detail::to_str(text),
                                detail::to_str(ask.body),
                                &exchange_,
                                to,
                                sink);
        });
    }
    ~HttpResponse() {
        if (http_ != nullptr) {
            static_cast<void>(http_->close(call_.handle(), exchange_));
        }
    }
    HttpResponse(HttpResponse&& other) noexcept
        : call_(other.call_),
          http_(std::exchange(other.http_, nullptr)),
          exchange_(other.exchange_),
          head_(std::move(other.head_)),
          buffer_(std::move(other.buffer_)),
          at_end_(other.at_end_),
          after_cr_(other.after_cr_) {}
    HttpResponse(const HttpResponse&) = delete;
    HttpResponse& operator=(const HttpResponse&) = delete;
    HttpResponse& operator=(HttpResponse&&) = delete;

    /// More of the request's body.
    void send(std::string_view bytes, bool last) {
        check([&](void* to, daybook_sink sink) {
            return http_->send(
                call_.handle(), exchange_, detail::to_str(bytes), last ? 1 : 0, to, sink);
        });
    }
    /// Waits for the answer's head.
    [[nodiscard]] int status() {
        return static_cast<int>(json::ObjectReader(head()).integer("status", 0));
    }
    /// The value of a header by its lower-case name, "" when there is none; several are joined with
    /// ", ".
    [[nodiscard]] std::string header(std::string_view name) {
        const json::ObjectReader names(json::ObjectReader(head()).raw("headers"));
        return names.text(name, "");
    }
    /// Some bytes of the answer as they arrive; "" is its end.
    [[nodiscard]] std::string read(std::int64_t max_bytes = 0) {
        if (!buffer_.empty()) {
            return std::exchange(buffer_, {});
        }
        return at_end_ ? std::string() : fetch(max_bytes);
    }
    /// The rest of the answer; what is beyond `max_bytes` is left.
    [[nodiscard]] std::string text(std::size_t max_bytes = SIZE_MAX) {
        std::string all;
        for (std::string piece = read(); !piece.empty() && all.size() < max_bytes; piece = read()) {
            all += piece;
        }
        all.resize(all.size() < max_bytes ? all.size() : max_bytes);
        return all;
    }
    /// The next line, without its end (LF, CR or CRLF, also when cut between two reads). False at
    /// the end of the answer.
    [[nodiscard]] bool next_line(std::string& line) {
        while (true) {
            if (after_cr_ && !buffer_.empty()) {
                buffer_.erase(0, buffer_.front() == '\n' ? 1 : 0);
                after_cr_ = false;
            }
            const std::size_t end = buffer_.find_first_of("\r\n", searched_);
            if (end != std::string::npos) {
                after_cr_ = buffer_[end] == '\r';
                line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                searched_ = 0;
                return true;
            }
            searched_ = buffer_.size();
            if (buffer_.size() > kMaxLine) {
                throw PluginError(DAYBOOK_FULL, "a line of the server's answer is over 4 MiB");
            }
            if (at_end_) {
                line = std::exchange(buffer_, {});
                return !line.empty();
            }
            buffer_ += fetch(0);
        }
    }
    /// The next event that has data. False at the end of the stream.
    [[nodiscard]] bool next_event(ServerEvent& event) {
        event = {};
        bool has_data = false;
        for (std::string line; next_line(line);) {
            if (line.empty()) {
                if (has_data) {
                    return true;
                }
                event = {};
                continue;
            }
            const std::size_t colon = line.find(':');
            const std::string field = line.substr(0, colon);
            std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
            value.erase(0, value.starts_with(' ') ? 1 : 0);
            if (field == "event") {
                event.name = std::move(value);
            } else if (field == "data") {
                event.data += (has_data ? "\n" : "") + value;
                has_data = true;
                if (event.data.size() > kMaxLine) {
                    throw PluginError(DAYBOOK_FULL, "an event of the stream is over 4 MiB");
                }
            }
        }
        return has_data;
    }

  private:
    static const daybook_http& table(const Call& call) {
        const daybook_host& host = call.host();
        const auto* http =
            static_cast<const daybook_http*>(host.get_extension(host.ctx, DAYBOOK_EXT_HTTP));
        if (http == nullptr) {
            throw PluginError(DAYBOOK_UNSUPPORTED,
                              "the host gives no " DAYBOOK_EXT_HTTP
                              ": name it in DAYBOOK_PLUGIN's wants(...)");
        }
        return *http;
    }
    template <class Verb>
    std::string check(const Verb& verb) {
        std::string answer;
        const daybook_status status = verb(static_cast<void*>(&answer), &detail::collect);
        if (status == DAYBOOK_OK) {
            return answer;
        }
        std::string message = "the host refused the request";
        try {
            message = json::ObjectReader(answer).text("message", message);
        } catch (const std::invalid_argument&) {  // no JSON: the status alone must do
        }
        throw PluginError(status, message, detail::status_is_retryable(status));
    }
    const std::string& head() {
        if (head_.empty()) {
            head_ = check([&](void* to, daybook_sink sink) {
                return http_->head(call_.handle(), exchange_, to, sink);
            });
        }
        return head_;
    }
    std::string fetch(std::int64_t max_bytes) {
        std::string bytes = check([&](void* to, daybook_sink sink) {
            return http_->read(call_.handle(), exchange_, max_bytes, to, sink);
        });
        at_end_ = bytes.empty();
        return bytes;
    }

    Call call_;
    const daybook_http* http_;
    std::int64_t exchange_ = 0;
    std::string head_;
    std::string buffer_;        ///< read and not yet taken as lines
    std::size_t searched_ = 0;  ///< of it, known to hold no end of a line
    bool at_end_ = false;
    bool after_cr_ = false;  ///< an LF that comes next belongs to the line before
};

[[nodiscard]] inline HttpResponse http(const Call& call, const HttpAsk& ask) {
    return {call, ask};
}
/// POSTs a JSON text.
[[nodiscard]] inline HttpResponse post_json(const Call& call, std::string url, std::string body) {
    HttpAsk ask;
    ask.method = "POST";
    ask.url = std::move(url);
    ask.headers = {{"content-type", "application/json"}};
    ask.body = std::move(body);
    return {call, ask};
}
[[nodiscard]] inline HttpResponse get(const Call& call, std::string url) {
    HttpAsk ask;
    ask.url = std::move(url);
    return {call, ask};
}

}  // namespace daybook
