#include "host/checkpoint/text_diff.hpp"

#include <memory>

#include <git2.h>

namespace daybook {
namespace {

struct FreePatch {
    void operator()(git_patch* patch) const noexcept { git_patch_free(patch); }
};

struct PatchText {
    git_buf buffer = GIT_BUF_INIT;
    PatchText() = default;
    ~PatchText() { git_buf_dispose(&buffer); }
    PatchText(const PatchText&) = delete;
    PatchText& operator=(const PatchText&) = delete;
    PatchText(PatchText&&) = delete;
    PatchText& operator=(PatchText&&) = delete;
};

}  // namespace

Result<std::string> unified_diff(std::string_view path,
                                 std::string_view before,
                                 std::string_view after) {
    if (before == after) {
        return std::string();
    }
    if (before.find('\0') != std::string_view::npos || after.find('\0') != std::string_view::npos) {
        return std::string("binary");
    }
    const std::string name(path);
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_FORCE_TEXT;
    git_patch* raw = nullptr;
    const int made = git_patch_from_buffers(&raw,
                                            before.data(),
                                            before.size(),
                                            name.c_str(),
                                            after.data(),
                                            after.size(),
                                            name.c_str(),
                                            &options);
    const std::unique_ptr<git_patch, FreePatch> patch(raw);
    PatchText text;
    if (made < 0 || git_patch_to_buf(&text.buffer, raw) < 0) {
        const git_error* error = git_error_last();
        return Error(Errc::internal,
                     "compare two contents: " +
                         std::string(error != nullptr ? error->message : "no reason given"));
    }
    return std::string(text.buffer.ptr, text.buffer.size);
}

}  // namespace daybook
