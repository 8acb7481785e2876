// SHA-1 of bytes that come in pieces: what git's packs end in. Not for anything that must resist an
// attacker.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace daybook {

class Sha1 {
  public:
    Sha1();
    ~Sha1();
    Sha1(const Sha1&) = delete;
    Sha1& operator=(const Sha1&) = delete;
    Sha1(Sha1&&) = delete;
    Sha1& operator=(Sha1&&) = delete;

    void add(std::string_view bytes);
    /// The twenty bytes themselves. Once; nothing may be added afterwards.
    [[nodiscard]] std::string finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace daybook
