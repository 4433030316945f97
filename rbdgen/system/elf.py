"""Sections of a 64-bit ELF file: objects, shared libraries, output of NVIDIA's assembler."""

from __future__ import annotations

import struct


def sections(elf: bytes) -> dict[str, int]:
    """Name → bytes of each section."""
    (headers,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    # name, type, flags, address, offset, size
    rows = [struct.unpack_from("<IIQQQQ", elf, headers + k * size) for k in range(count)]
    table = rows[names][4]
    return {elf[table + row[0] : elf.index(b"\0", table + row[0])].decode(): row[5] for row in rows}
