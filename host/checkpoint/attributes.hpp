// What git's trees do not hold of a desk's files: all mode bits, and empty folders.
//
// They stand in `.daybook/attributes` of each checkpoint's tree, one line each (docs/formats.md,
// "Checkpoints"), so that two checkpoints are the same exactly when their trees are. There is no
// such file while there is nothing to say. No I/O. Thread: [any].
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/checkpoint/folder_tree.hpp"

namespace daybook {

inline constexpr std::string_view kAttributesFile = ".daybook/attributes";

class Attributes {
  public:
    /// Of files as they are on disk. `odd_permissions`: of the regular files whose mode is neither
    /// 644 nor 755. The commonest mode becomes the one that needs no line.
    static Attributes of(const std::map<std::string, TreeFile>& files,
                         const std::map<std::string, unsigned>& odd_permissions,
                         std::map<std::string, unsigned> empty_folders,
                         std::map<std::string, unsigned> odd_folders);
    /// Lines that are not understood are passed over: a later version may have more.
    static Attributes parse(std::string_view text);
    /// "" when there is nothing to say.
    [[nodiscard]] std::string encode() const;

    /// The low twelve bits of a file's mode.
    [[nodiscard]] unsigned permissions_of(const std::string& path, const TreeFile& file) const;
    /// A file was written. True when that changed anything here.
    bool note_file(const std::string& path, const TreeFile& file, unsigned permissions);
    /// A file is gone. The same.
    bool forget_file(const std::string& path);
    bool note_empty_folder(const std::string& path, unsigned permissions);
    /// By path. Every folder that holds nothing, with its mode.
    [[nodiscard]] const std::map<std::string, unsigned>& empty_folders() const noexcept {
        return empty_folders_;
    }
    /// Other folders whose mode is an unusual one.
    [[nodiscard]] const std::map<std::string, unsigned>& odd_folders() const noexcept {
        return odd_folders_;
    }
    /// Whether both say the same of these files; they may say it in other words.
    [[nodiscard]] bool is_same(const Attributes& other,
                               const std::map<std::string, TreeFile>& files) const;

  private:
    unsigned file_permissions_ = 0644;  ///< of plain files without a line
    std::map<std::string, unsigned> files_;
    std::map<std::string, unsigned> empty_folders_;
    std::map<std::string, unsigned> odd_folders_;
};

/// Mode bits as four octal digits.
[[nodiscard]] std::string octal_text(unsigned permissions);

/// A folder whose owner may not use it freely, or with more than the usual bits: its mode is kept.
[[nodiscard]] bool is_odd_folder_mode(unsigned permissions) noexcept;

}  // namespace daybook
