#include "host/surface/ledger_verify.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "host/checkpoint/checkpoint_reader.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/ledger.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxLedger = 64UL * 1024 * 1024;
constexpr const char* kMirror = ".daybook/ledger.jsonl";
/// A checkpoint is at most a few records behind: those since it was taken.
constexpr std::size_t kMostBehind = 64;

/// "" = in order; else which line is not. A torn last line was acknowledged to nobody.
std::string wrong_line(std::string_view text) {
    std::uint64_t seq = 0;
    for (text = text.substr(0, text.rfind('\n') + 1); !text.empty();) {
        const std::size_t end = text.find('\n');
        const auto record = LedgerRecord::from_line(text.substr(0, end));
        if (!record) {
            return "line " + std::to_string(seq + 1) + " is no record";
        }
        if (record->seq != ++seq) {
            return "line " + std::to_string(seq) + " has the number " + std::to_string(record->seq);
        }
        text.remove_prefix(end + 1);
    }
    return "";
}

/// How many of its last lines must go for the text to hash to `sha256`.
std::optional<std::size_t> lines_behind(std::string_view text, const std::string& sha256) {
    text = text.substr(0, text.rfind('\n') + 1);
    for (std::size_t behind = 0; behind <= kMostBehind; ++behind) {
        if (sha256_hex(text) == sha256) {
            return behind;
        }
        if (text.empty()) {
            return std::nullopt;
        }
        text.remove_suffix(1);
        text = text.substr(0, text.rfind('\n') + 1);
    }
    return std::nullopt;
}

/// The mirror's hash in the newest checkpoint, "" = it holds none.
Result<std::string> mirrored(Os& os, const std::filesystem::path& repository) {
    auto reader = CheckpointReader::open(os, repository);
    if (!reader) {
        return reader.error();
    }
    const auto& all = reader->all();
    const auto newest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.second.number < b.second.number;
    });
    return newest == all.end() ? Result<std::string>(std::string())
                               : reader->sha256_of(newest->second, kMirror);
}

}  // namespace

Result<> verify_ledger(Os& os,
                       const std::filesystem::path& state,
                       const std::string& desk,
                       VerifyReport& report) {
    const std::string place = "ledger/" + desk + "/ledger.jsonl";
    // The checkpoint first: what a host appends meanwhile only makes the file longer.
    auto mirror = mirrored(os, state / "workspace/.checkpoints" / (desk + ".git"));
    if (!mirror) {
        return mirror.error();
    }
    auto folder = os.open_root(state);
    auto text = folder ? read_file(os, folder->get(), place, kMaxLedger)
                       : Result<std::string>(folder.error());
    const bool is_none = !text && text.error().code() == Errc::not_found;
    if (!text && !is_none) {
        return text.error().during("read " + place);
    }
    const std::string from_git = "put it back from git: git --git-dir workspace/.checkpoints/" +
                                 desk + ".git show checkpoints:" + kMirror;
    if (is_none && !mirror->empty()) {
        report.findings.push_back({place + " is gone; the checkpoints hold it", from_git});
        return {};
    }
    const std::string held = text ? *text : "";
    if (const std::string wrong = wrong_line(held); !wrong.empty()) {
        report.findings.push_back({place + ": " + wrong, from_git});
        return {};
    }
    if (mirror->empty()) {
        return {};
    }
    if (const auto behind = lines_behind(held, *mirror); !behind) {
        report.findings.push_back(
            {place + " does not begin with what the newest checkpoint holds of it", from_git});
    } else if (*behind != 0) {
        report.notes.push_back(std::to_string(*behind) +
                               " records of the ledger are newer than the newest checkpoint");
    }
    return {};
}

}  // namespace daybook
