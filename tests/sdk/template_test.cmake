# Builds the template outside the tree against the installed SDK, as a stranger would.
# Run with -DBUILD_DIR=<daybook's build folder> -DWORK_DIR=<a folder of the test's own> -DSTRICT=<warnings as errors>.
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}\n${output}")
    endif()
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/installed" --component sdk)
file(COPY "${WORK_DIR}/installed/share/daybook/template/" DESTINATION "${WORK_DIR}/greeter")
run("${CMAKE_COMMAND}" -S "${WORK_DIR}/greeter" -B "${WORK_DIR}/build" -G Ninja
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/installed" "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Wpedantic -Werror")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
if(NOT EXISTS "${WORK_DIR}/build/greeter.so")
    message(FATAL_ERROR "the template made no greeter.so")
endif()

# Only the entry point is exported.
execute_process(COMMAND nm -D --defined-only "${WORK_DIR}/build/greeter.so" OUTPUT_VARIABLE symbols)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
list(FILTER symbols EXCLUDE REGEX " T daybook_plugin_v1$")
if(symbols)
    message(FATAL_ERROR "greeter.so exports more than its entry point: ${symbols}")
endif()

# A plugin that asks for another major of the SDK is told so.
file(APPEND "${WORK_DIR}/greeter/CMakeLists.txt" "find_package(daybook-sdk 9.0 REQUIRED)\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK_DIR}/greeter" -B "${WORK_DIR}/build-9" -G Ninja
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/installed" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
    message(FATAL_ERROR "an SDK of another major was accepted")
endif()
file(REMOVE_RECURSE "${WORK_DIR}")
