// An I/O thread of a test's own: the loop runs from the start to the end of the object.
#pragma once

#include <thread>

#include "host/os/io_loop.hpp"

namespace daybook::test {

class IoThread {
  public:
    IoThread() : thread_([this] { loop.run(); }) {}
    ~IoThread() {
        loop.stop();
        thread_.join();
    }
    IoThread(const IoThread&) = delete;
    IoThread& operator=(const IoThread&) = delete;
    IoThread(IoThread&&) = delete;
    IoThread& operator=(IoThread&&) = delete;

    IoLoop loop;

  private:
    std::thread thread_;
};

}  // namespace daybook::test
