#include "host/surface/config_file.hpp"

#include "host/os/os.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxConfigBytes = 1024UL * 1024;

}  // namespace

Result<std::string> read_config_text(const std::filesystem::path& file,
                                     const std::string& home_flags) {
    LinuxOs os;
    // The owner may keep the file as a link: only its folder is opened as a root, and the file by
    // its real name.
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(file, error);
    if (error) {
        return Error(error == std::errc::no_such_file_or_directory ? Errc::not_found : Errc::io,
                     "read " + file.string() + ": " + error.message() +
                         "; make one with: daybook init" +
                         (home_flags.empty() ? std::string() : " " + home_flags));
    }
    auto folder = os.open_root(real.parent_path());
    if (!folder) {
        return folder.error();
    }
    auto opened = os.open_beneath(folder->get(), real.filename().string(), OpenMode::read, 0);
    if (!opened) {
        return opened.error();
    }
    auto text = os.read_all(opened->get(), kMaxConfigBytes);
    if (!text) {
        return text.error().during("read " + file.string());
    }
    return text;
}

Result<Config> load_config(const std::filesystem::path& file, const std::string& home_flags) {
    auto text = read_config_text(file, home_flags);
    return text ? Config::parse(*text, file.string()) : Result<Config>(text.error());
}

}  // namespace daybook
