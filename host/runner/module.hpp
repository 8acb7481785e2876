// The plugin's file: its manifest, the loaded library, and the proof that the two say the same.
//
// Runs inside the walls: reading the note is safe for any bytes, loading runs the module's
// constructors.
#pragma once

#include <string>

#include <daybook/daybook.h>
#include <daybook/result.hpp>

#include "host/format/manifest.hpp"

namespace daybook::runner {

/// Reads the manifest from the file's note, without running anything, and checks that this host
/// serves what it wants. Errors: io, invalid (no ELF file, malformed manifest), not_found (no
/// note), unsupported (another ABI).
Result<Manifest> read_manifest(const std::string& path);

/// Loads the library and asks its entry point for the descriptor. The library stays loaded until
/// the process ends. Errors: invalid (not a library), not_found (a library it needs, the entry
/// point), unsupported (another ABI, an entry that is no function), refused (the plugin gave no
/// descriptor). `manifest` names the plugin in the messages.
Result<const daybook_plugin*> load_module(const std::string& path, const Manifest& manifest);

/// Compares the descriptor with the manifest and returns it as JSON of the same shape.
/// Errors: refused (which member differs; an unknown flag), invalid (a schema that is no JSON).
Result<std::string> check_descriptor(const daybook_plugin& descriptor, const Manifest& manifest);

}  // namespace daybook::runner
