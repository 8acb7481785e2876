// What the tar writer makes is read back the same, also by tar itself; a damaged head is refused.
#include "host/format/tar.hpp"

#include <sys/wait.h>

#include "host/format/sha1.hpp"
#include "host/format/sha256.hpp"
#include "host/format/sha256_stream.hpp"
#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

std::vector<TarEntry> read_back(const std::string& archive) {
    std::vector<TarEntry> entries;
    TarReader reader;
    for (std::size_t at = 0; at + kTarBlock <= archive.size();) {
        const auto wants = reader.take(std::string_view(archive).substr(at, kTarBlock));
        REQUIRE(wants);
        at += kTarBlock;
        if (*wants == TarReader::Wants::end) {
            break;
        }
        if (*wants == TarReader::Wants::content) {
            entries.push_back(reader.entry());
            at += entries.back().bytes + tar_padding(entries.back().bytes).size();
        }
    }
    return entries;
}

TarEntry entry_of(std::string path, char kind, std::uint64_t bytes, std::string link = "") {
    TarEntry entry;
    entry.path = std::move(path);
    entry.kind = kind;
    entry.mode = 0640;
    entry.modified = 1'760'848'331;
    entry.bytes = bytes;
    entry.link = std::move(link);
    return entry;
}

}  // namespace

TEST_CASE("names of any length and any bytes come back from an archive", "[format]") {
    const std::vector<TarEntry> entries = {
        entry_of("a", 'f', 5),
        entry_of(std::string(99, 'n'), 'f', 0),
        entry_of(std::string(100, 'n'), 'f', 512),
        entry_of("\xff\n " + std::string(100, 'x') + "/" + std::string(255, 'y'), 'f', 513),
        entry_of("folder", 'd', 0),
        entry_of(std::string(150, 'd'), 'd', 0),
        entry_of("link", 'l', 0, "../" + std::string(200, 't')),
    };
    std::string archive;
    for (const TarEntry& entry : entries) {
        auto head = tar_header(entry);
        REQUIRE(head);
        archive += *head + std::string(entry.bytes, 'c') + tar_padding(entry.bytes);
    }
    archive += tar_end();
    const auto found = read_back(archive);
    REQUIRE(found.size() == entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        INFO(i);
        CHECK(found[i].path == entries[i].path);
        CHECK(found[i].kind == entries[i].kind);
        CHECK(found[i].mode == 0640);
        CHECK(found[i].modified == entries[i].modified);
        CHECK(found[i].bytes == entries[i].bytes);
        CHECK(found[i].link == entries[i].link);
    }
    // As others see it.
    const TempFolder folder;
    folder.write("x.tar", archive);
    const std::string command = "cd '" + folder.path().string() +
                                "' && tar -xf x.tar && test -d folder && test -L link && test "
                                "\"$(cat a)\" = ccccc";
    CHECK(WEXITSTATUS(std::system(command.c_str())) == 0);
}

TEST_CASE("an archive with a damaged head is refused, and so is a file that is too large",
          "[format]") {
    CHECK(tar_header(entry_of("large", 'f', kMaxTarFile + 1)).error().code() == Errc::full);
    const std::string head = *tar_header(entry_of("a", 'f', 5));
    for (std::size_t at = 0; at < 345; ++at) {
        std::string damaged = head;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
        TarReader reader;
        const auto taken = reader.take(damaged);
        INFO(at);
        // A changed byte of the sum's own spaces may leave the number as it is.
        CHECK((!taken || (at >= 148 && at < 156)));
    }
    TarReader reader;
    CHECK(reader.take("short").error().code() == Errc::corrupt);
}

TEST_CASE("hashes in pieces are those of the whole", "[format]") {
    const std::string text(100'000, 'h');
    Sha256Stream pieces;
    for (std::size_t at = 0; at < text.size(); at += 777) {
        pieces.add(std::string_view(text).substr(at, 777));
    }
    CHECK(pieces.finish() == sha256_hex(text));
    CHECK(Sha256Stream().finish() == sha256_hex(""));
    Sha1 sha1;
    sha1.add("ab");
    sha1.add("c");
    CHECK(sha1.finish() ==
          std::string("\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2"
                      "\x6c\x9c\xd0\xd8\x9d"));
}
