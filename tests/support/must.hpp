// The value of a Result in a test: a failure ends the test with the error's sentence.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <daybook/result.hpp>

namespace daybook::test {

template <class T>
T must(Result<T> result) {
    if (!result) {
        throw std::runtime_error(std::string(name_of(result.error().code())) + ": " +
                                 result.error().message());
    }
    return *std::move(result);
}

}  // namespace daybook::test
