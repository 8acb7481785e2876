#include "host/checkpoint/deflated.hpp"

#include <cstdlib>
#include <zlib.h>

namespace daybook {

std::string deflated(std::string_view bytes, int level) {
    uLongf size = compressBound(bytes.size());
    std::string out(size, '\0');
    const int outcome = compress2(reinterpret_cast<Bytef*>(out.data()),
                                  &size,
                                  reinterpret_cast<const Bytef*>(bytes.data()),
                                  bytes.size(),
                                  level);
    if (outcome != Z_OK) {
        std::abort();  // no memory: as everywhere else
    }
    out.resize(size);
    return out;
}

}  // namespace daybook
