// What looks after a home's files of record as a whole: verify, usage. All of it works on the
// files, beside a running host or without one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/os.hpp"
#include "host/surface/places.hpp"

namespace daybook {

struct VaultPlace {
    Os& os;
    std::filesystem::path state;   ///< state folder
    std::filesystem::path config;  ///< daybook.toml
};

/// Names of the desks that have a folder, sorted. Errors: not_found (no home there), io.
Result<std::vector<std::string>> desk_names(const VaultPlace& place);
/// The desk's name in a list, or all when it is "". Errors: not_found (lists the desks).
Result<std::vector<std::string>> chosen_desks(const VaultPlace& place, const std::string& desk);

/// {"ok":false,"desks":[{"desk","ok","newest","commits",…,"findings":[{"what","todo"}],"notes"}]}
/// Errors: not_found, io.
Result<Json> verify_desks(const VaultPlace& place, const std::string& desk);

/// Bytes and files of each part of each desk and of the home:
/// {"state","desks":[{"desk","parts":[{"name","files","bytes","on_disk"}],…}],"parts":[…],"bytes",
/// "on_disk"}. Errors: not_found, io.
Result<Json> usage_of_home(const VaultPlace& place, const std::string& desk);

}  // namespace daybook
