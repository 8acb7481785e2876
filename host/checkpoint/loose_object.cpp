#include "host/checkpoint/loose_object.hpp"

#include "host/checkpoint/deflated.hpp"

namespace daybook {

std::string loose_bytes(std::string_view type, std::string_view content) {
    std::string whole(type);
    whole += " " + std::to_string(content.size());
    whole += '\0';
    whole += content;
    return deflated(whole, kDeflateFast);
}

Result<> write_loose(Os& os, int objects, const std::string& name, std::string_view bytes) {
    constexpr unsigned kMode = 0444;  // as git's
    auto file = os.open_beneath(objects, kNewLooseObject, OpenMode::create_new, kMode);
    if (!file && file.error().code() == Errc::conflict) {  // of a failed attempt
        if (auto gone = os.remove(objects, kNewLooseObject); !gone) {
            return gone.error().during("write checkpoint object");
        }
        file = os.open_beneath(objects, kNewLooseObject, OpenMode::create_new, kMode);
    }
    if (!file) {
        return file.error().during("write checkpoint object");
    }
    Result<> done = os.write_all(file->get(), bytes);
    if (done) {
        done = os.rename_over(objects, kNewLooseObject, name);
        if (!done) {
            const std::string fan_out = name.substr(0, 2);  // an owner's `git gc` removed it
            constexpr unsigned kFolderMode = 0770;
            if (os.make_directory(objects, fan_out, kFolderMode)) {
                done = os.rename_over(objects, kNewLooseObject, name);
            }
        }
    }
    if (!done) {
        const Result<> ignored = os.remove(objects, kNewLooseObject);
        return done.error().during("write checkpoint object");
    }
    return {};
}

}  // namespace daybook
