// The channel between daybookd and a daybook-runner: messages over a SOCK_SEQPACKET socket pair.
//
// A frame is a 16-byte header and at most 64 KiB of payload. A message is one frame, or several
// frames of the same type and call id that follow each other without another in between, all but
// the last with `kMoreFollows`. A whole message is at most 8 MiB. Numbers are little-endian. The
// payload of every message is a list of fields (FieldWriter): no text needs escaping, so bytes pass
// as they are. docs/formats.md, "Channel".
//
// Whoever sees a malformed frame ends the connection; the host kills the runner. Used by the host
// (non-blocking) and by the runner (blocking), so this file depends on os/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

namespace daybook::channel {

inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kMaxFramePayload = 64UL * 1024;
inline constexpr std::size_t kMaxMessageBytes = 8UL * 1024 * 1024;
inline constexpr std::uint8_t kVersion = 1;

/// What a message is. Fields in the order they are written; integers as 8 bytes little-endian
/// (FieldWriter::add_number).
enum class MessageType : std::uint8_t {
    // host -> runner
    open = 1,  ///< config_json, desk name, host version, profile
    call = 2,  ///< kind ("tool","model.turn","model.ready","model.window","model.compact"), name,
               ///< args_json, deadline_ns, idempotency_key
    verb_reply = 3,  ///< request id, status, body (result bytes, or {"error","message"} JSON)
    cancel = 4,      ///< (none): the call of the header's id
    drain = 5,       ///< (none)
    close = 6,       ///< (none)
    // runner -> host
    ready = 32,   ///< walls_json, descriptor_json: the walls stand, the module is loaded and equals
                  ///< its note
    opened = 33,  ///< (none): answer to open
    start_failed = 34,  ///< step, status, reason: the runner exits after it
    verb = 35,          ///< request id, verb name ("desk-files/1.read"), arguments...
    result = 36,        ///< json
    failure = 37,       ///< status, retryable (0/1), message, detail_json
    log = 38,           ///< level, message, fields_json (call id may be 0)
    progress = 39,      ///< text
    event =
        40,  ///< name ("text","reasoning","tool_call","usage","session","compacted","end","error"),
             ///< values...
    drained = 41,  ///< (none)
};

/// Id of the call a message belongs to; 0 = none. Chosen by the host, never reused on a connection.
using CallId = std::uint64_t;

struct Message {
    MessageType type{};
    CallId call = 0;
    std::string payload;  ///< fields, see FieldReader
};

/// Builds a payload: for each field a 4-byte length and its bytes.
class FieldWriter {
  public:
    FieldWriter& add(std::string_view bytes);
    FieldWriter& add_number(std::int64_t number);
    [[nodiscard]] std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// Reads a payload made by FieldWriter; views into it. A short or malformed payload gives nullopt,
/// never a read outside.
class FieldReader {
  public:
    explicit FieldReader(std::string_view payload) : rest_(payload) {}
    std::optional<std::string_view> next();
    std::optional<std::int64_t> next_number();
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

  private:
    std::string_view rest_;
};

/// Cuts a message into frames, each with its header. Errors: full (over kMaxMessageBytes).
Result<std::vector<std::string>> encode(const Message& message);

/// Puts frames together again. One for each connection; its state is the message that is not
/// complete yet.
class Assembler {
  public:
    /// Takes one received frame; `truncated` says that the datagram was longer than the buffer.
    /// Returns a whole message, or nullopt when more frames follow.
    /// Errors: plugin_protocol (bad version or type, wrong length, foreign frame in between, over a
    /// limit).
    Result<std::optional<Message>> take(std::span<const char> frame, bool truncated);

  private:
    std::optional<Message> partial_;
};

/// Blocking send and receive on a socket, for the runner. Any thread may send: callers hold one
/// lock around a message. Errors: unavailable (the other side is gone), plugin_protocol, full.
Result<> send_blocking(int socket, const Message& message);
Result<Message> receive_blocking(int socket, Assembler& assembler);

}  // namespace daybook::channel
