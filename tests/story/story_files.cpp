// What comes out of a story: gathered, compared, written anew.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "host/checkpoint/checkpoint_reader.hpp"
#include "host/checkpoint/text_diff.hpp"
#include "tests/story/story.hpp"
#include "tests/support/must.hpp"

namespace daybook::test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxShownDiff = 6000;

/// Puts the pieces of the requests in the log together, by desk.
void collect_requests(const fs::path& log, Files& files) {
    if (!fs::exists(log)) {
        return;
    }
    std::istringstream in(contents_of_file(log));
    std::map<std::string, std::string> parts;  // by plugin and desk
    for (std::string line; std::getline(in, line);) {
        if (line.find("more lines were dropped") != std::string::npos) {
            throw std::runtime_error("the log dropped lines of requests: " + line);
        }
        const auto start = line.find(" request ");
        const auto plugin = line.rfind(" plugin=");
        const auto desk = line.rfind(" desk=");
        if (start == std::string::npos || plugin == std::string::npos ||
            desk == std::string::npos || plugin < start) {
            continue;
        }
        std::istringstream words(line.substr(start + 9, 40));
        std::string number;
        std::string place;
        words >> number >> place;
        const std::size_t slash = place.find('/');
        if (slash == std::string::npos) {
            continue;
        }
        const std::size_t text = line.find(place, start) + place.size() + 1;
        std::string& part = parts[line.substr(plugin)];
        part += line.substr(text, plugin - text);
        if (place.substr(0, slash) == place.substr(slash + 1)) {
            auto whole = Json::parse(part);
            if (!whole) {
                throw std::runtime_error("a request in the log: " + whole.error().message());
            }
            files["requests/" + line.substr(desk + 6) + ".txt"] += whole->as_string();
            part.clear();
        }
    }
}

/// Hides the commit's digits in the key of a write: they hang on the modes that the machine gives
/// files. The test that plays a week twice compares commits.
std::string without_commits(std::string text) {
    constexpr std::string_view kKey = "\"key\":\"write:c-";
    for (auto at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at + 1)) {
        const auto start = text.find(':', at + kKey.size()) + 1;
        const auto end = text.find('"', start);
        if (start != 0 && end != std::string::npos) {
            text.replace(start, end - start, "commit");
        }
    }
    return text;
}

void collect_folder(const fs::path& root, const std::string& folder, Files& files) {
    if (!fs::exists(root / folder)) {
        return;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        const std::string name = entry.path().lexically_relative(root).string();
        const bool is_kept = name.find("/.checkpoints") == std::string::npos &&
                             name.find("journal/_host") == std::string::npos;
        if (is_kept && entry.is_regular_file()) {
            files[name] = without_commits(contents_of_file(entry.path()));
        }
    }
}

/// Ids, kinds and files, oldest first. Ids of commits are compared by the test that plays twice.
std::string checkpoints_of(const fs::path& state, const std::string& desk) {
    LinuxOs os;
    const auto reader =
        must(CheckpointReader::open(os, state / "workspace/.checkpoints" / (desk + ".git")));
    std::map<std::uint64_t, Checkpoint> in_order;
    for (const auto& [id, checkpoint] : reader.all()) {
        in_order.emplace(checkpoint.number, checkpoint);
    }
    std::string text;
    for (const auto& [number, each] : in_order) {
        text += each.id + " " + each.kind + (each.file.empty() ? "" : " " + each.file) +
                (each.why.turn.empty() ? "" : " " + each.why.turn) + " " + each.why.reason + "\n";
    }
    return text;
}

}  // namespace

Files collect(const fs::path& home) {
    const fs::path state = home / "state";
    Files files;
    for (const char* folder : {"workspace", "sessions", "journal"}) {
        collect_folder(state, folder, files);
    }
    if (fs::exists(state / "workspace/.checkpoints")) {
        for (const auto& entry : fs::directory_iterator(state / "workspace/.checkpoints")) {
            const std::string desk = entry.path().stem().string();
            files["checkpoints/" + desk + ".txt"] = checkpoints_of(state, desk);
        }
    }
    collect_requests(home / "log.txt", files);
    return files;
}

Files read_files(const fs::path& folder) {
    Files files;
    if (!fs::exists(folder)) {
        return files;
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files[entry.path().lexically_relative(folder).string()] =
                contents_of_file(entry.path());
        }
    }
    return files;
}

std::string difference_of(const Files& expected, const Files& actual) {
    std::set<std::string> names;
    for (const Files* files : {&expected, &actual}) {
        for (const auto& [name, text] : *files) {
            names.insert(name);
        }
    }
    std::string all;
    for (const std::string& name : names) {
        const auto wanted = expected.find(name);
        const auto got = actual.find(name);
        if (wanted == expected.end() || got == actual.end()) {
            all += (got == actual.end() ? "missing: " : "not expected: ") + name + "\n";
            continue;
        }
        if (wanted->second != got->second) {
            auto diff = unified_diff(name, wanted->second, got->second);
            all += name + " differs:\n" + (diff ? *diff : diff.error().message()) + "\n";
        }
    }
    if (all.size() > kMaxShownDiff) {
        all = all.substr(0, kMaxShownDiff) + "\n… and " +
              std::to_string(all.size() - kMaxShownDiff) + " bytes more\n";
    }
    return all;
}

void write_files(const fs::path& folder, const Files& files) {
    fs::remove_all(folder);
    for (const auto& [name, text] : files) {
        fs::create_directories((folder / name).parent_path());
        std::ofstream(folder / name, std::ios::binary) << text;
    }
}

}  // namespace daybook::test
