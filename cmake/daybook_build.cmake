# Compiler settings, warnings, sanitizers and the layout of the build tree.
#
# The build tree has the layout of an installation (bin/, libexec/daybook/, lib/daybook/plugins/1/,
# share/daybook/), so that the programs find each other by their own place in both.

option(DAYBOOK_TESTS "Build the tests and benches" ON)
option(DAYBOOK_WERROR "Treat warnings as errors" ON)
option(DAYBOOK_FUZZ "Build the libFuzzer programs of tests/fuzz (clang)" OFF)
set(DAYBOOK_SANITIZE "" CACHE STRING "address or thread: build everything with that sanitizer")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# ccache, told to see paths relative to this folder, so that a clone elsewhere finds what another has compiled.
find_program(DAYBOOK_CCACHE ccache)
if(DAYBOOK_CCACHE)
    set(_launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${DAYBOOK_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(DAYBOOK_LIBEXEC_DIR "${CMAKE_BINARY_DIR}/libexec/daybook")
set(DAYBOOK_PLUGIN_DIR "${CMAKE_BINARY_DIR}/lib/daybook/plugins/1")
set(DAYBOOK_FIXTURE_DIR "${CMAKE_BINARY_DIR}/lib/daybook/fixtures")
set(DAYBOOK_SHARE_DIR "${CMAKE_BINARY_DIR}/share/daybook")

# No coroutines: g++ 12 destroys some temporaries twice around co_await (docs/dependencies.md).
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-coroutines>)

# Third-party switches that must be the same in every file.
add_library(daybook_third_party INTERFACE)
target_compile_definitions(daybook_third_party INTERFACE
    BOOST_DLL_USE_STD_FS BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

add_library(daybook_warnings INTERFACE)
target_compile_options(daybook_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wundef
    -Wnull-dereference -Wimplicit-fallthrough -Wformat=2 -Wswitch-enum
    $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wduplicated-cond -Wlogical-op -Wuseless-cast>)
if(DAYBOOK_WERROR)
    target_compile_options(daybook_warnings INTERFACE -Werror)
endif()

if(DAYBOOK_SANITIZE)
    # g++ 12 loses track of std::optional and std::variant between a sanitizer's checks; dev has these warnings.
    target_compile_options(daybook_warnings INTERFACE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> -Wno-null-dereference)
endif()
if(DAYBOOK_SANITIZE STREQUAL "address")
    add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=address,undefined)
    add_compile_definitions(DAYBOOK_UNDER_SANITIZER=1)
elseif(DAYBOOK_SANITIZE STREQUAL "thread")
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
    add_compile_definitions(DAYBOOK_UNDER_SANITIZER=1)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options(-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
    add_link_options(-Wl,-z,relro,-z,now)
endif()

if(DAYBOOK_FUZZ)
    # RapidJSON 1.1 adds to a null pointer in its own stack; a read outside is still seen.
    add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=pointer-overflow)
endif()

# daybook_host_library(NAME sources...): one layer of the host as a static library.
function(daybook_host_library name)
    add_library(${name} STATIC ${ARGN})
    target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${name} PUBLIC daybook::sdk daybook_third_party PRIVATE daybook_warnings)
endfunction()

# daybook_plugin_sum(NAME): NAME.so.sha256 beside NAME.so, with every build.
function(daybook_plugin_sum name)
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
        COMMAND "${CMAKE_COMMAND}" "-DFILE=$<TARGET_FILE:${name}>" -P "${CMAKE_SOURCE_DIR}/cmake/write_sha256.cmake")
endfunction()

# daybook_ship_plugin(NAME): installs a plugin of ours with NAME.so.sha256 beside it, by which the host knows that it
# came with it. The sum is taken again after installing, which may strip the file; whoever strips later takes it again:
# sha256sum NAME.so >NAME.so.sha256.
function(daybook_ship_plugin name)
    daybook_plugin_sum(${name})
    set(folder "${CMAKE_INSTALL_LIBDIR}/daybook/plugins/1")
    install(TARGETS ${name} LIBRARY DESTINATION "${folder}")
    install(CODE "set(FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/${name}.so\")
        include(\"${CMAKE_SOURCE_DIR}/cmake/write_sha256.cmake\")")
endfunction()
