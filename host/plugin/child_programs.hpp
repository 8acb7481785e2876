// The walled children of one desk: one a plugin and program, kept between calls, ended when idle.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/plugin/child_program.hpp"
#include "host/plugin/scratch_folder.hpp"

namespace daybook {

/// What all children of a desk have in common.
struct ChildrenSettings {
    std::filesystem::path home;  ///< the state folder
    std::string desk;
    ScratchBounds bounds;  ///< of scratch/<plugin>/<desk>/, below which their folders are
    ChildSettings child;   ///< but for the folder
    /// Log lines and lifecycle of one. [any]; must not block. May be empty.
    std::function<void(const std::string& plugin, int level, const std::string& line)> on_log;
    std::function<void(
        const std::string& plugin, const std::string& what, const ChildStatus& status)>
        on_lifecycle;
};

class ChildPrograms {
  public:
    /// The loop outlives it.
    ChildPrograms(IoLoop& loop, ChildrenSettings settings);
    ~ChildPrograms();
    ChildPrograms(const ChildPrograms&) = delete;
    ChildPrograms& operator=(const ChildPrograms&) = delete;
    ChildPrograms(ChildPrograms&&) = delete;
    ChildPrograms& operator=(ChildPrograms&&) = delete;

    struct Ask {
        std::vector<std::string> arguments;    ///< behind the owner's
        std::vector<std::string> environment;  ///< "NAME=text", below the owner's
        bool fresh = false;                    ///< ends the one that runs first
        bool own = false;                      ///< not shared with other calls
    };
    /// A program that a call is attached to; it counts as used until this goes. Thread: [desk].
    class Attachment {
      public:
        Attachment() = default;
        ~Attachment();
        Attachment(Attachment&& other) noexcept;
        Attachment& operator=(Attachment&& other) noexcept;
        Attachment(const Attachment&) = delete;
        Attachment& operator=(const Attachment&) = delete;
        [[nodiscard]] ChildProgram& operator*() const noexcept { return *program_; }
        [[nodiscard]] ChildProgram* operator->() const noexcept { return program_.get(); }
        [[nodiscard]] bool is_attached() const noexcept { return program_ != nullptr; }
        bool is_fresh = false;  ///< this attach() started it

      private:
        friend class ChildPrograms;
        ChildPrograms* owner_ = nullptr;  ///< null: it is this call's own
        std::pair<std::string, std::string> key_;
        std::shared_ptr<ChildProgram> program_;
    };
    /// Errors: refused (its folder), busy (fresh, while another call uses it), io. Thread: [desk].
    Result<Attachment> attach(const std::string& plugin,
                              const ProgramConfig& program,
                              const Ask& ask);
    /// Plugin and status of each.
    [[nodiscard]] std::vector<std::pair<std::string, ChildStatus>> statuses() const;  ///< [any]
    [[nodiscard]] IoLoop& loop() const noexcept { return loop_; }
    void clear();  ///< ends all; the desk's thread must not run any more

  private:
    using Key = std::pair<std::string, std::string>;  ///< plugin, program
    struct Entry {
        std::shared_ptr<ChildProgram> program;
        ProgramConfig config;  ///< that it was started with
        int users = 0;
        bool is_stopping = false;
        std::unique_ptr<Watch> idle_timer;
    };
    struct Shared;  ///< the entries; outlives a timer's callback

    Result<std::filesystem::path> prepare_folder(const std::string& plugin,
                                                 const std::string& program) const;
    Result<std::shared_ptr<ChildProgram>> start(const std::string& plugin,
                                                const ProgramConfig& program,
                                                const Ask& ask);
    void release(const Key& key, const ChildProgram* program);

    IoLoop& loop_;
    const ChildrenSettings settings_;
    std::int64_t generation_ = 0;  ///< [desk]
    std::shared_ptr<Shared> shared_;
};

}  // namespace daybook
