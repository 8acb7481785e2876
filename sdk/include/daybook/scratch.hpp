// The plugin's private folder ("daybook.scratch/1", ext/scratch.h), for a plugin that wants it:
//
//     const daybook::Scratch scratch = daybook::scratch_folder(call);
//     sqlite3_open((scratch.path + "/index.db").c_str(), &db);
#pragma once

#include <cstdint>
#include <string>

#include <daybook/call.hpp>
#include <daybook/ext/scratch.h>

namespace daybook {

struct Scratch {
    std::string path;  ///< absolute; the folder exists
    std::int64_t bytes = 0;
    std::int64_t max_bytes = 0;
};

/// Throws FULL (over its bound), UNSUPPORTED (not wanted in the manifest).
inline Scratch scratch_folder(const Call& call) {
    const auto& table = call.extension<daybook_scratch>(DAYBOOK_EXT_SCRATCH);
    const std::string answer =
        Call::ask([&](auto* to, auto sink) { return table.folder(call.handle(), to, sink); });
    const json::ObjectReader in(answer);
    return {in.text("path"), in.integer("bytes"), in.integer("max_bytes")};
}

}  // namespace daybook
