#include "host/format/config_tables.hpp"

#include "host/format/json.hpp"
#include "host/format/toml_text.hpp"

namespace daybook {
namespace {

Json to_json(const TomlNode& node) {
    Json out;
    switch (node.kind) {
        case TomlNode::Kind::table:
            out = Json::object();
            for (const TomlMember& member : node.members) {  // sorted by key
                out.append_member(member.key, to_json(member.value));
            }
            return out;
        case TomlNode::Kind::list:
            out = Json::array();
            for (const TomlNode& item : node.items) {
                out.push(to_json(item));
            }
            return out;
        case TomlNode::Kind::integer:
            return Json(node.integer);
        case TomlNode::Kind::boolean:
            return Json(node.boolean);
        case TomlNode::Kind::number:
            return Json(node.number);
        case TomlNode::Kind::text:
        case TomlNode::Kind::time:
            break;
    }
    return Json(node.text);
}

}  // namespace

Result<std::map<std::string, std::string>> config_tables(std::string_view text,
                                                         std::string_view source_name) {
    const auto root = parse_toml(text, source_name);
    if (!root) {
        return root.error();
    }
    std::map<std::string, std::string> tables;
    for (const TomlMember& member : root->members) {
        if (member.key == "host" || member.value.kind != TomlNode::Kind::table) {
            tables[member.key] = to_json(member.value).dump();
            continue;
        }
        for (const TomlMember& named : member.value.members) {
            tables[member.key + "." + named.key] = to_json(named.value).dump();
        }
    }
    return tables;
}

}  // namespace daybook
