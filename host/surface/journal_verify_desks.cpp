// The request journal.verify: beside a running host, and on the files alone (`daybookd --once`).
#include <limits>
#include <memory>
#include <optional>

#include "host/checkpoint/checkpoint_reader.hpp"
#include "host/format/sha256.hpp"
#include "host/surface/journal_verify.hpp"
#include "host/surface/vault.hpp"

namespace daybook {

Result<Json> verify_journals(const VaultPlace& place,
                             const std::string& desk,
                             const std::function<CheckpointSource(const std::string&)>& source) {
    auto desks = chosen_desks(place, desk);
    if (!desks) {
        return desks.error();
    }
    Json proofs = Json::array();
    bool all_well = true;
    for (const std::string& name : *desks) {
        auto proof = verify_journal(place.os, place.state, name, source(name));
        if (!proof && proof.error().code() == Errc::not_found) {
            proof = JournalProof();  // a desk that has not begun yet
        }
        if (!proof) {
            return proof.error();
        }
        all_well = all_well && proof->findings.empty();
        proofs.push(proof_json(name, *proof));
    }
    return Json::object().set("ok", all_well).set("desks", std::move(proofs));
}

Result<Json> verify_journals_of_files(const VaultPlace& place, const std::string& desk) {
    return verify_journals(place, desk, [&](const std::string& name) {
        return repository_source(place.os, place.state, name);
    });
}

CheckpointSource repository_source(Os& os,
                                   const std::filesystem::path& state,
                                   const std::string& desk) {
    // Opened when it is first asked for: a desk that never wrote has no repository.
    auto reader = std::make_shared<std::optional<CheckpointReader>>();
    const std::filesystem::path repository = state / "workspace/.checkpoints" / (desk + ".git");
    return {[&os, reader, repository]() -> Result<std::map<std::string, Checkpoint>> {
                auto opened = CheckpointReader::open(os, repository);
                if (!opened) {
                    return opened.error();
                }
                reader->emplace(std::move(*opened));
                return (*reader)->all();
            },
            [reader](const Checkpoint& checkpoint, const DeskPath& path) {
                return reader->has_value() ? (*reader)->sha256_of(checkpoint, path.str())
                                           : Result<std::string>(std::string());
            }};
}

CheckpointSource store_source(const CheckpointStore& store) {
    return {[&store]() -> Result<std::map<std::string, Checkpoint>> {
                auto list = store.list(std::numeric_limits<std::size_t>::max());
                if (!list) {
                    return list.error();
                }
                std::map<std::string, Checkpoint> all;
                for (Checkpoint& checkpoint : *list) {
                    all.emplace(checkpoint.id, checkpoint);
                }
                return all;
            },
            [&store](const Checkpoint& checkpoint, const DeskPath& path) -> Result<std::string> {
                auto content = store.read(checkpoint, path);
                if (!content) {
                    return content.error();
                }
                return *content ? sha256_hex(**content) : std::string();
            }};
}

}  // namespace daybook
