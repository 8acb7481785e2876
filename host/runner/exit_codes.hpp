// How the runner's process ends; the reason went to the host as a start_failed message where the
// channel stood.
#pragma once

namespace daybook::runner {

inline constexpr int kExitOptions = 70;  ///< the command line
inline constexpr int kExitConfine = 71;  ///< descriptors, limits, privileges
inline constexpr int kExitLandlock = 72;
inline constexpr int kExitSeccomp = 73;
inline constexpr int kExitProbe = 74;  ///< the walls do not hold
inline constexpr int kExitManifest = 75;
inline constexpr int kExitLoad = 76;
inline constexpr int kExitDescriptor = 77;  ///< it differs from the manifest
inline constexpr int kExitOpen = 78;        ///< the plugin's own `open` failed
inline constexpr int kExitProtocol = 79;    ///< the host sent something malformed

}  // namespace daybook::runner
