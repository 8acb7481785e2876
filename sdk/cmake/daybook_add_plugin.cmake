# daybook_add_plugin(NAME sources... [LIBRARIES targets...] [OUTPUT_DIRECTORY folder])
#
# Builds NAME.so, a plugin: a module without prefix that exports only its entry point. The folder is
# DAYBOOK_PLUGIN_DIR where that is set (daybook's own tree), else CMake's default.
#
#   -fno-gnu-unique   one plugin's inline statics never become another's
#   -z defs           a missing symbol fails here, not when the host loads the file
#   --exclude-libs    nothing of a static library is exported
#   version script    exports daybook_plugin_v* only
function(daybook_add_plugin name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "OUTPUT_DIRECTORY" "LIBRARIES")
    if(NOT ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "daybook_add_plugin(${name}): names no source file")
    endif()
    add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
    set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/daybook_plugin.map")
    set_target_properties(${name} PROPERTIES
        PREFIX "" SUFFIX ".so" POSITION_INDEPENDENT_CODE ON LINK_DEPENDS "${map}"
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    if(NOT ARG_OUTPUT_DIRECTORY AND DAYBOOK_PLUGIN_DIR)
        set(ARG_OUTPUT_DIRECTORY "${DAYBOOK_PLUGIN_DIR}")
    endif()
    if(ARG_OUTPUT_DIRECTORY)
        set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${ARG_OUTPUT_DIRECTORY}")
    endif()
    target_link_libraries(${name} PRIVATE daybook::sdk ${ARG_LIBRARIES})
    if(TARGET daybook_warnings)
        target_link_libraries(${name} PRIVATE daybook_warnings)
    endif()
    target_compile_options(${name} PRIVATE
        "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>")
    target_link_options(${name} PRIVATE
        "LINKER:--exclude-libs,ALL" "LINKER:--version-script=${map}" "LINKER:--build-id" "LINKER:-z,relro,-z,now")
    # A sanitizer's run-time library is in the program that loads the module, not in the module.
    if(NOT DAYBOOK_SANITIZE)
        target_link_options(${name} PRIVATE "LINKER:-z,defs")
    endif()
endfunction()
