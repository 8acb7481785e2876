// SHA-256 of bytes that come in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace daybook {

class Sha256Stream {
  public:
    Sha256Stream();
    ~Sha256Stream();
    Sha256Stream(const Sha256Stream&) = delete;
    Sha256Stream& operator=(const Sha256Stream&) = delete;
    Sha256Stream(Sha256Stream&&) = delete;
    Sha256Stream& operator=(Sha256Stream&&) = delete;

    void add(std::string_view bytes);
    /// 64 lower-case hexadecimal digits. Once; nothing may be added afterwards.
    [[nodiscard]] std::string finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace daybook
