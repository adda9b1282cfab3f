"""The bytes of a text table: opened, unpacked and known to be UTF-8 before anything is parsed.

UTF-8 is never guessed away: another encoding is considered only where the file says so itself (a byte order mark),
the caller says so, or the bytes are not UTF-8 at all.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import mmap
import re
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from polyveil.errors import InputError, listed

# Longest first: the UTF-32 mark begins with the UTF-16 one.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NOT_TEXT = (
    (b"PK\x03\x04", "a ZIP or Excel file", "Rename it to .zip or .xlsx"),
    (b"PAR1", "a Parquet file", "Rename it to .parquet or declare the format parquet"),
    (b"%PDF", "a PDF file", "Export the table as CSV and read that"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "Export the sheet as CSV (UTF-8) and read that"),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV or Parquet and read that"),
)
# What charset-normalizer may choose from where the text reads as nonsense in Latin letters. It is asked only then: on
# the short accented words of a table it takes Spanish and French in cp1252 for cp1250.
OTHER_ENCODINGS = ("cp1251", "cp1253", "koi8_r", "shift_jis", "gb18030", "big5", "euc_kr")
SAMPLE_BYTES = 65_536
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# Signs where cp1250 has letters of Polish and its neighbours, and where other code pages have theirs.
_SIGN_IN_WORD = re.compile(r"[£¥¯³¹¼¾][a-zà-ÿ]|[a-zà-ÿ][£¥§¯³¹¿¼¾†‡•…‰–—™\ufffd][a-zà-ÿ]")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True)
class Content:
    """The bytes of a text file as UTF-8, and where polars can read the same bytes from without a copy."""

    name: str
    buffer: bytes | mmap.mmap
    origin: Path | bytes
    encoding: str
    declared: bool = False

    @property
    def start(self) -> int:
        """Offset of the first byte after a UTF-8 byte order mark."""
        return 3 if self.buffer[:3] == codecs.BOM_UTF8 else 0

    def whole(self) -> bytes:
        """All bytes in memory, for the slow passes."""
        return self.buffer if isinstance(self.buffer, bytes) else self.buffer[:]


def open_content(path: Path, encoding: str | None, member: str | None = None) -> Content:
    """Open a plain or packed text file; bytes in another declared or marked encoding are turned into UTF-8."""
    name = path.name
    with path.open("rb") as handle:
        head = handle.read(16)
        if not head:
            raise InputError(f"{name} is empty. A table needs a header line and at least one row.")
        packed = head.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")) or path.suffix.lower() in {".gz", ".zst", ".zip"}
        if not packed:
            # Mapped, not read: the checks then cost no copy of the file beside the one polars makes.
            buffer: bytes | mmap.mmap = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
            origin: Path | bytes = path
        else:
            buffer = origin = _unpack(path, head, member)
    if not buffer:
        raise InputError(f"{name} is empty after unpacking. A table needs a header line and at least one row.")
    _refuse_other_formats(name, buffer[:16])
    return _as_utf8(name, buffer, origin, encoding)


def _unpack(path: Path, head: bytes, member: str | None) -> bytes:
    if path.suffix.lower() == ".zip":
        return read_member(path, member)
    try:
        if head.startswith(b"\x1f\x8b"):
            return gzip.decompress(path.read_bytes())
        if head.startswith(b"\x28\xb5\x2f\xfd"):
            return _unpack_zstd(path)
    except (EOFError, OSError, zlib.error):
        kind = "gzip" if head.startswith(b"\x1f\x8b") else "zstd"
        raise InputError(
            f"{path.name} is a broken {kind} file: it ends early or its checksum does not fit. "
            f"Copy or download it again."
        ) from None
    raise InputError(
        f"{path.name} is named like a packed file but contains no gzip or zstd data. "
        f"Rename it (for example to .csv) or pack it again."
    )


def _unpack_zstd(path: Path) -> bytes:
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as raw, pa.CompressedInputStream(raw, "zstd") as stream:
        unpacked: bytes = stream.read()
    return unpacked


def read_member(path: Path, wanted: str | None) -> bytes:
    """The one table of a ZIP archive, or the one that is wanted."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(member_of(path, archive, wanted))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
        raise InputError(f"{path.name} is a broken ZIP archive. Copy or download it again.") from None
    except RuntimeError:
        raise InputError(f"{path.name} is protected by a password. Unpack it and read the file inside.") from None


def member_of(path: Path, archive: zipfile.ZipFile, wanted: str | None) -> zipfile.ZipInfo:
    """The file to read; folders and what macOS adds to an archive are no tables."""
    files = {
        each.filename: each
        for each in archive.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/") and not each.filename.endswith(".DS_Store")
    }
    if wanted is not None and wanted not in files:
        raise InputError(f"{path.name} has no file {wanted!r}. It has {listed(map(repr, files))}.")
    if wanted is None and len(files) != 1:
        what = (
            f"{len(files)} files: {listed(map(repr, files))}. Choose one with --sheet NAME, or unpack it"
            if files
            else "no file"
        )
        raise InputError(f"{path.name} has {what}.")
    found = files[wanted] if wanted is not None else next(iter(files.values()))
    if not found.filename.lower().endswith((".csv", ".tsv", ".tab", ".txt")):
        raise InputError(f"{path.name} has a file that is no CSV text. Unpack it and read the file inside.")
    return found


def _refuse_other_formats(name: str, head: bytes) -> None:
    for magic, kind, remedy in NOT_TEXT:
        if head.startswith(magic):
            raise InputError(f"{name} is {kind}, not a text table. {remedy}.")


def _as_utf8(name: str, buffer: bytes | mmap.mmap, origin: Path | bytes, encoding: str | None) -> Content:
    declared = encoding is not None
    found = _known_codec(encoding) if encoding is not None else _marked_encoding(buffer)
    if found in {"utf-8", "utf-8-sig", "ascii"}:
        return Content(name, buffer, origin, found, declared)
    return recode(Content(name, buffer, origin, found, declared), found)


def _known_codec(encoding: str) -> str:
    try:
        known = codecs.lookup(encoding).name
        with contextlib.suppress(UnicodeError):
            b" ".decode(known)  # LookupError for codecs that do not make text, such as hex.
    except (LookupError, ValueError):
        raise InputError(f"unknown encoding {encoding!r}. Use for example utf-8, utf-16, cp1252 or latin-1.") from None
    return known


def _marked_encoding(buffer: bytes | mmap.mmap) -> str:
    """The encoding that a byte order mark, or the zero bytes of UTF-16 without one, gives away; otherwise UTF-8."""
    head = buffer[:SAMPLE_BYTES]
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    # Latin text in UTF-16 has a zero in every second byte; a stray NUL in a text file is nothing like it.
    pairs = len(head) // 2
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if pairs >= 4 and head[first::2].count(0) > 0.7 * pairs and head[1 - first :: 2].count(0) == 0:
            return encoding
    return "utf-8"


def recode(content: Content, encoding: str) -> Content:
    """The same text as UTF-8 bytes; bytes that do not fit the encoding are an error with line and offset."""
    data = content.whole()
    try:
        text = data.decode(encoding)
        recoded = text.encode("utf-8")
    except UnicodeDecodeError as error:
        raise undecodable(content.name, data, encoding, error.start, (encoding,)) from None
    except (UnicodeError, ValueError):
        raise undecodable(content.name, data, encoding, 0, (encoding,)) from None
    return Content(content.name, recoded, recoded, encoding, content.declared)


def settle_encoding(content: Content) -> Content:
    """Find the encoding of a file that is not UTF-8, or say where it breaks; unchanged when it is UTF-8 after all."""
    data = content.whole()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        first_bad = error.start
    else:
        return content
    if content.declared:
        raise undecodable(content.name, data, content.encoding, first_bad, (content.encoding,))
    if content.encoding == "utf-8-sig" or _is_damaged_utf8(data):
        raise undecodable(content.name, data, "utf-8", first_bad, ("utf-8",))
    for encoding in _guesses(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _has_control_characters(text):
            recoded = text.encode("utf-8")
            return Content(content.name, recoded, recoded, encoding)
    raise undecodable(content.name, data, "utf-8", first_bad, ("utf-8", "cp1252"))


def with_single_line_ends(content: Content) -> Content:
    """Undo the doubled line ends (CR CR LF) that text mode on Windows makes of CR LF, if all line ends are such."""
    data = content.whole()
    doubled = data.count(b"\r\r\n")
    if not doubled or doubled != data.count(b"\n"):
        return content
    single = data.replace(b"\r\r\n", b"\r\n")
    return replace(content, buffer=single, origin=single)


def undecodable(name: str, data: bytes, encoding: str, offset: int, tried: tuple[str, ...]) -> InputError:
    """The error for bytes that are no text: where they are, what was tried, what to do - never the bytes."""
    line = line_at(data, offset, encoding)
    return InputError(
        f"{name}: line {line} (byte {offset:,} of the text) cannot be decoded; tried {' and '.join(tried)}. "
        f"Declare the encoding the file was written in (for example cp1252, latin-1 or utf-16), "
        f"or save it again as UTF-8."
    )


def line_at(data: bytes, offset: int, encoding: str = "utf-8") -> int:
    """Number of the line, from 1, that holds the byte at `offset`."""
    try:
        before = data[:offset].decode(encoding, errors="ignore")
    except UnicodeError:  # Codecs that cannot skip over faults.
        before = data[:offset].decode("latin-1")
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")


def _is_damaged_utf8(data: bytes) -> bool:
    """Whether the bytes beyond ASCII are mostly well-formed UTF-8: then the file is UTF-8 with a few spoilt bytes."""
    high = _high_lines(data)
    formed = _UTF8_SEQUENCE.findall(high)
    stray = len(_HIGH_BYTE.findall(high)) - sum(map(len, formed))
    return len(formed) > stray


def _high_lines(data: bytes) -> bytes:
    """A sample of the lines that hold bytes beyond ASCII, from the first of them on."""
    first = _HIGH_BYTE.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    lines = data[start : start + 16 * SAMPLE_BYTES].splitlines()
    return b"\n".join(line for line in lines if not line.isascii())[:SAMPLE_BYTES]


def _guesses(data: bytes) -> tuple[str, ...]:
    """Encodings to try, likeliest first, judged on lines that hold bytes beyond ASCII."""
    sample = _high_lines(data)
    for latin in ("cp1252", "cp1250"):
        if _reads_naturally(sample.decode(latin, errors="replace")):
            return (latin,)
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(OTHER_ENCODINGS)).best()
    likeliest = (best.encoding,) if best is not None and best.encoding in OTHER_ENCODINGS else ()
    return (*likeliest, "cp1252")


def _reads_naturally(text: str) -> bool:
    """Whether accented letters stand among plain ones and no sign stands inside a word, as in Western languages."""
    plain = sum(character.isascii() and character.isalpha() for character in text)
    accented = sum(not character.isascii() and character.isalpha() for character in text)
    broken = len(_SIGN_IN_WORD.findall(text))
    return accented <= plain and 10 * broken <= accented


def _has_control_characters(text: str) -> bool:
    """Whether decoded text holds characters no table holds; a sign that the guess is wrong or the file is not text."""
    return re.search(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", text) is not None
