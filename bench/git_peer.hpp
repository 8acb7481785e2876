// Checkpoints as others take them: by starting the git program. Not durable: git's defaults sync
// nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <daybook/result.hpp>

namespace daybook::bench {

class GitPeer {
  public:
    /// Makes a repository of `folder`, which holds a desk's files, and commits them. Its own
    /// directory for `sequence()` lies at `store`. Errors: not_found (no git program), io.
    static Result<GitPeer> open(const std::filesystem::path& folder,
                                const std::filesystem::path& store);

    /// `git add -A`, `git commit`: two processes.
    Result<> add_and_commit();
    /// The sequence of a widely used agent: rev-parse, read-tree, add, ls-files, rev-parse,
    /// diff-index, write-tree, commit-tree, update-ref; nine processes on a store of its own.
    Result<> sequence();
    /// Id of the tree that the last sequence() stored. Errors: io.
    [[nodiscard]] Result<std::string> tree() const;

  private:
    GitPeer(std::string program, std::filesystem::path folder, std::filesystem::path store)
        : program_(std::move(program)), folder_(std::move(folder)), store_(std::move(store)) {}
    /// What it printed, without the last newline. Errors: io (it failed: its words, or took over
    /// a minute).
    Result<std::string> git(std::vector<std::string> arguments, bool on_store) const;
    Result<> git_each(const std::vector<std::vector<std::string>>& commands, bool on_store) const;

    std::string program_;
    std::filesystem::path folder_;
    std::filesystem::path store_;
};

}  // namespace daybook::bench
