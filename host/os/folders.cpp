#include "host/os/folders.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <climits>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

Error failed(std::string_view operation, std::string_view path, int error) {
    Errc code = Errc::io;
    if (error == ENOENT) {
        code = Errc::not_found;
    } else if (error == EEXIST || error == ENOTEMPTY) {
        code = Errc::conflict;
    } else if (error == ENOSPC || error == EDQUOT) {
        code = Errc::full;
    }
    return Error(code,
                 std::string(operation) + " " + printable(path, 255) + ": " +
                     std::generic_category().message(error));
}

/// The folder that holds the path's last component, opened through the Os, and that component.
struct Place {
    UniqueFd folder;
    std::string name;
};

Result<Place> place_of(Os& os, int dir, std::string_view path) {
    const std::size_t slash = path.rfind('/');
    const std::string_view folder =
        slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    auto opened = os.open_beneath(dir, folder, OpenMode::directory);
    if (!opened) {
        return opened.error();
    }
    return Place{std::move(*opened),
                 std::string(slash == std::string_view::npos ? path : path.substr(slash + 1))};
}

}  // namespace

Result<std::string> read_link(Os& os, int dir, std::string_view path) {
    auto place = place_of(os, dir, path);
    if (!place) {
        return place.error();
    }
    std::string text(PATH_MAX, '\0');
    const ssize_t length =
        ::readlinkat(place->folder.get(), place->name.c_str(), text.data(), text.size());
    if (length < 0) {
        return failed("read link", path, errno);
    }
    text.resize(static_cast<std::size_t>(length));
    return text;
}

Result<> make_link(Os& os, int dir, std::string_view path, const std::string& text) {
    auto place = place_of(os, dir, path);
    if (!place) {
        return place.error();
    }
    return ::symlinkat(text.c_str(), place->folder.get(), place->name.c_str()) == 0
               ? Result<>()
               : Result<>(failed("make link", path, errno));
}

Result<> remove_empty_folder(Os& os, int dir, std::string_view path) {
    auto place = place_of(os, dir, path);
    if (!place) {
        return place.error();
    }
    return ::unlinkat(place->folder.get(), place->name.c_str(), AT_REMOVEDIR) == 0
               ? Result<>()
               : Result<>(failed("remove folder", path, errno));
}

Result<> sync_file_system(Os& os, int dir) {
    // Through the Os first: where a test lets syncs fail, this one fails as well.
    if (auto synced = os.full_sync(dir); !synced) {
        return synced;
    }
    return ::syncfs(dir) == 0 ? Result<>() : Result<>(failed("sync", "file system", errno));
}

}  // namespace daybook
