// Whole files on top of Os. These use nothing but its virtual functions, so that a fault layer sees
// every step.
#include <cerrno>
#include <cstdlib>
#include <sys/random.h>

#include "host/os/desk_path.hpp"
#include "host/os/os.hpp"

namespace daybook {
namespace {

std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string temporary_name(std::string_view path) {
    const std::string_view folder = folder_of(path);
    const std::string_view name = folder.empty() ? path : path.substr(folder.size() + 1);
    std::string out(folder);
    if (!folder.empty()) {
        out += '/';
    }
    return out.append(".").append(name).append(".daybook~");
}

Result<> fill(
    Os& os, int dir, std::string_view path, std::string_view bytes, unsigned permissions) {
    auto file = os.open_beneath(dir, path, OpenMode::create_new, permissions);
    if (!file) {
        return file.error();
    }
    if ((permissions & 0077U) != 0) {  // the umask may have taken these away
        if (auto set = os.set_mode(file->get(), permissions); !set) {
            return set;
        }
    }
    if (auto written = os.write_all(file->get(), bytes); !written) {
        return written;
    }
    return os.full_sync(file->get());
}

}  // namespace

Result<std::string> read_file(Os& os, int dir, std::string_view path, std::size_t max_bytes) {
    const std::string shown = "read " + printable(path, 255);
    auto file = os.open_beneath(dir, path, OpenMode::read);
    if (!file) {
        return file.error();
    }
    auto status = os.stat_of(file->get());
    if (!status) {
        return status.error().during(shown);
    }
    if (!S_ISREG(status->st_mode)) {
        return Error(Errc::refused, shown + ": not a regular file");
    }
    // 0 links: it was replaced since it was opened, and this is what stood there a moment ago.
    if (status->st_nlink > 1) {
        return Error(Errc::refused, shown + ": the file has more than one link");
    }
    auto bytes = os.read_all(file->get(), max_bytes);
    if (!bytes) {
        return bytes.error().during(shown);
    }
    return bytes;
}

Result<> write_file_durably(
    Os& os, int dir, std::string_view path, std::string_view bytes, unsigned permissions) {
    const std::string shown = "write " + printable(path, 255);
    const std::string temporary = temporary_name(path);
    // What a crash left behind; whatever is wrong with it shows again when the name is made new.
    if (auto gone = os.remove(dir, temporary); !gone && gone.error().code() != Errc::not_found) {
        return gone.error().during(shown);
    }
    Result<> done = fill(os, dir, temporary, bytes, permissions);
    if (done) {
        done = os.rename_over(dir, temporary, path);
    }
    if (!done) {
        const Result<> ignored = os.remove(dir, temporary);
        return done.error().during(shown);
    }
    auto folder = os.open_beneath(dir, folder_of(path), OpenMode::directory);
    if (!folder) {
        return folder.error().during(shown);
    }
    if (auto synced = os.full_sync(folder->get()); !synced) {
        return synced.error().during(shown);
    }
    return {};
}

Result<> make_directories(Os& os, int dir, std::string_view path, unsigned permissions) {
    for (std::size_t end = 0; end < path.size();) {
        end = path.find('/', end + 1);
        end = end == std::string_view::npos ? path.size() : end;
        if (auto made = os.make_directory(dir, path.substr(0, end), permissions); !made) {
            return made;
        }
    }
    return {};
}

std::string random_hex(std::size_t bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string raw(bytes, '\0');
    for (std::size_t filled = 0; filled < bytes;) {
        const ssize_t got = ::getrandom(raw.data() + filled, bytes - filled, 0);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            std::abort();  // a kernel without getrandom is older than openat2: never reached
        }
        filled += static_cast<std::size_t>(got);
    }
    std::string out;
    out.reserve(bytes * 2);
    for (const char c : raw) {
        const auto byte = static_cast<unsigned char>(c);
        out += kHex[byte >> 4U];
        out += kHex[byte & 0x0FU];
    }
    return out;
}

}  // namespace daybook
