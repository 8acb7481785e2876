// The tar format as far as a backup needs it: files, folders and symbolic links with names of any
// length and any bytes (GNU's long names). What is written here every tar reads. No I/O.
// Thread: [any].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

inline constexpr std::size_t kTarBlock = 512;
inline constexpr std::uint64_t kMaxTarFile = 8ULL * 1024 * 1024 * 1024 - 1;

struct TarEntry {
    std::string path;  ///< relative, raw bytes, no "/" at the end
    char kind = 'f';   ///< f file, d folder, l symbolic link
    unsigned mode = 0600;
    std::int64_t modified = 0;  ///< seconds since 1970
    std::uint64_t bytes = 0;    ///< of a file's content
    std::string link;           ///< of a symbolic link
};

/// The blocks before the content. Errors: full (a file of 8 GiB or more).
Result<std::string> tar_header(const TarEntry& entry);
/// Zeros that fill the last block of a content.
[[nodiscard]] std::string tar_padding(std::uint64_t bytes);
/// What an archive ends with.
[[nodiscard]] std::string tar_end();

/// Puts entries together from blocks of 512 bytes.
class TarReader {
  public:
    enum class Wants {
        more,     ///< the next block belongs to the head
        content,  ///< `entry` is whole: its content comes next
        end,      ///< the archive has ended
    };
    /// Takes a block of a head. Errors: corrupt.
    Result<Wants> take(std::string_view block);
    /// Of Wants::content; is moved out.
    [[nodiscard]] TarEntry entry() { return std::move(entry_); }

  private:
    Result<Wants> take_header(std::string_view block);
    TarEntry entry_;
    std::string long_name_, long_link_;
    std::string* filling_ = nullptr;  ///< a long name whose blocks are coming
    std::size_t left_ = 0;            ///< bytes of it
};

}  // namespace daybook
