// The request journal.verify: beside a running host, and on the files alone (`daybookd --once`).
#include "host/surface/journal_verify.hpp"
#include "host/surface/vault.hpp"

namespace daybook {

Result<Json> verify_journals(const VaultPlace& place, const std::string& desk) {
    auto desks = chosen_desks(place, desk);
    if (!desks) {
        return desks.error();
    }
    Json proofs = Json::array();
    bool all_well = true;
    for (const std::string& name : *desks) {
        auto proof = verify_journal(place.os, place.state, name);
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

}  // namespace daybook
