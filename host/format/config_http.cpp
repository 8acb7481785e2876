#include "host/format/config_http.hpp"

#include <algorithm>

#include "host/format/config_words.hpp"
#include "host/os/desk_path.hpp"
#include "host/os/http_origin.hpp"

namespace daybook {
namespace {

void read_text(const TomlNode& table,
               std::string_view key,
               std::string& out,
               const ConfigProblem& problem) {
    const TomlNode* node = table.find(key);
    if (node == nullptr) {
        return;
    }
    if (node->kind != TomlNode::Kind::text) {
        problem(node->place, std::string(key) + ": expected text in quotes");
        return;
    }
    out = node->text;
}

}  // namespace

std::string url_problem(const OriginConfig& origin) {
    const std::size_t host = origin.url.find("//");
    if (host != std::string::npos &&
        origin.url.substr(0, origin.url.find('/', host + 2)).find('@') != std::string::npos) {
        return "a secret never stands in this file: name it with credential = \"NAME\"";
    }
    const auto parsed = HttpOrigin::parse(origin.url);
    if (!parsed) {
        return parsed.error().message();
    }
    if (parsed->is_plain() && !parsed->names_loopback() && !origin.private_network) {
        return parsed->str() +
               ": plain http goes to this machine only; use https, or add private_network = true";
    }
    return {};
}

void read_access(const TomlNode& table, OriginConfig& out, const ConfigProblem& problem) {
    read_text(table, "credential", out.credential, problem);
    if (!out.credential.empty() && !is_plain_name(out.credential)) {
        problem(table.find("credential")->place,
                "credential: expected the name of a credential, not its value");
    }
    read_text(table, "credential_header", out.credential_header, problem);
    if (!out.credential_header.empty() &&
        std::find(kCredentialHeaders.begin(), kCredentialHeaders.end(), out.credential_header) ==
            kCredentialHeaders.end()) {
        problem(table.find("credential_header")->place,
                "credential_header: expected \"authorization\", \"x-api-key\", \"api-key\" or "
                "\"x-goog-api-key\"");
    }
    if (const TomlNode* node = table.find("private_network")) {
        if (node->kind == TomlNode::Kind::boolean) {
            out.private_network = node->boolean;
        } else {
            problem(node->place, "private_network: expected true or false");
        }
    }
}

std::vector<OriginConfig> read_origins(const TomlNode& list, const ConfigProblem& problem) {
    std::vector<OriginConfig> origins;
    if (list.kind != TomlNode::Kind::list) {
        problem(list.place, "origins: expected a list such as [\"https://api.example.com\"]");
        return origins;
    }
    for (const TomlNode& item : list.items) {
        OriginConfig origin;
        if (item.kind == TomlNode::Kind::text) {
            origin.url = item.text;
        } else if (item.kind == TomlNode::Kind::table) {
            for (const TomlMember& member : item.members) {
                const std::initializer_list<std::string_view> keys = {
                    "url", "credential", "credential_header", "private_network"};
                if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) {
                    problem(member.key_place, "origins: " + unknown_key(member.key, keys));
                }
            }
            read_text(item, "url", origin.url, problem);
            read_access(item, origin, problem);
        } else {
            problem(item.place, "origins: expected an address in quotes, or a table with a url");
            continue;
        }
        if (const std::string wrong = url_problem(origin); !wrong.empty()) {
            problem(item.place, "origins: " + wrong);
        }
        origins.push_back(std::move(origin));
    }
    return origins;
}

}  // namespace daybook
