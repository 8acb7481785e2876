// Readers of bytes from outside, each as a function of any bytes. libFuzzer drives them (preset
// fuzz); the corpus in tests/fuzz/corpus/NAME runs through them as an ordinary test.
//
// A broken promise (a view outside its buffer, a text that does not read back) ends the process by
// abort(), which both drivers report.
#pragma once

#include <string_view>

namespace daybook::fuzz {

/// A runner's datagrams: two bytes of length, a byte whose lowest bit says "truncated", the frame.
void read_frames(std::string_view bytes);
/// A plugin's file.
void read_elf_note(std::string_view bytes);
/// The text of a manifest.
void read_manifest(std::string_view bytes);
/// What a runner sends with a verb: request id, name, arguments; the request of http/1 among them.
void read_verb_payload(std::string_view bytes);
/// A model's arguments of a tool call, as the host checks them and as a plugin reads them.
void read_tool_arguments(std::string_view bytes);

struct Target {
    const char* name;  ///< also of its corpus
    void (*read)(std::string_view bytes);
};
inline constexpr Target kTargets[] = {{"frames", &read_frames},
                                      {"elf_note", &read_elf_note},
                                      {"manifest", &read_manifest},
                                      {"verb_payload", &read_verb_payload},
                                      {"tool_arguments", &read_tool_arguments}};

}  // namespace daybook::fuzz
