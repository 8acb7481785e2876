# Writes FILE.sha256, as sha256sum would.
file(SHA256 "${FILE}" sum)
get_filename_component(name "${FILE}" NAME)
file(WRITE "${FILE}.sha256" "${sum}  ${name}\n")
