#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/channel.hpp"
#include "host/plugin/http_ask.hpp"
#include "tests/fuzz/targets/targets.hpp"

namespace daybook::fuzz {
namespace {

void must(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// The fields, each inside the payload.
std::vector<std::string_view> fields_of(std::string_view payload) {
    std::vector<std::string_view> fields;
    channel::FieldReader reader(payload);
    while (const auto field = reader.next()) {
        must(field->empty() || (field->data() >= payload.data() &&
                                field->data() + field->size() <= payload.data() + payload.size()));
        fields.push_back(*field);
    }
    return fields;
}

}  // namespace

void read_frames(std::string_view bytes) {
    constexpr std::size_t kHead = 3;
    channel::Assembler assembler;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    while (bytes.size() >= kHead) {
        const std::size_t wanted = at(0) + at(1) * std::size_t{256};
        const bool truncated = (at(2) & 1U) != 0;
        bytes.remove_prefix(kHead);
        const std::string_view frame = bytes.substr(0, wanted);
        bytes.remove_prefix(frame.size());
        const auto taken =
            assembler.take(std::span<const char>(frame.data(), frame.size()), truncated);
        if (!taken) {
            must(taken.error().code() == Errc::plugin_protocol);
            return;  // the host ends the runner here
        }
        if (*taken) {
            must((*taken)->payload.size() <= channel::kMaxMessageBytes);
            fields_of((*taken)->payload);
        }
    }
}

void read_verb_payload(std::string_view bytes) {
    const std::vector<std::string_view> fields = fields_of(bytes);
    static_cast<void>(channel::FieldReader(bytes).next_number());
    const OriginConfig origin;
    for (const std::string_view field : fields) {
        if (const auto path = DeskPath::parse(std::string(field))) {
            const std::string framed = "/" + path->str() + "/";  // no way up, not absolute
            must(framed.find("/../") == std::string::npos &&
                 framed.find("//") == std::string::npos);
        }
        const auto asked = read_http_ask(
            field, "", {origin}, [](const std::string&) { return Result<std::string>("key"); });
        must(asked || !asked.error().message().empty());
    }
}

}  // namespace daybook::fuzz
