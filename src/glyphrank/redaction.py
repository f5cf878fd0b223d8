"""Takes secrets out of what a run writes down: configurations, texts, log records and Hydra's own copies.

Secret is what a name says is one (`token`, `api_key`, `password`, ...), user-info in a URL, and the secret parameters
of a URL's query. Names are compared word by word, so that `tokens`, `tokenizer` and `pad_token` stay readable.
"""

from __future__ import annotations

import io
import logging
import os
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

REDACTED = "<redacted>"

_SECRET_WORDS = frozenset(
    {"password", "passwords", "passwd", "passphrase", "pwd", "secret", "secrets"}
    | {"credential", "credentials", "authorization", "apikey", "accesskey"}
)
_KEY_OF = frozenset({"api", "access", "private", "secret", "signing", "encryption", "account", "subscription", "auth"})
_MODEL_TOKENS = frozenset({"pad", "eos", "bos", "unk", "cls", "sep", "mask", "start", "stop", "end", "image"})
_QUERY_SECRETS = frozenset({"key", "sig", "signature"})
_NO_SECRET = frozenset({"", "null", "None", "~", "true", "True", "false", "False", "???", REDACTED, "''", '""'})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_USER_INFO = re.compile(
    r"""(?<=://)(?:[^\s/?#"'<>]*|[^\s/@:"'<>]*:(?!\d+(?:[/?#\s]|$))[^\s"'<>]*)@"""  # the second: an unescaped / ? or #
)
_QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*\'"""
_PAIR = re.compile(rf"""(?<![\w.-])(?P<key>[\w.-]+)(?P<join>["']?\s*=\s*)(?P<value>{_QUOTED}|[^\s&"'#;)\]}}]+)""")
_ENTRY = re.compile(
    rf"""(?P<open>(?:^|[{{,\[\n])\s*["']?|["'])(?P<key>[\w.-]+)(?P<join>["']?\s*:\s*)"""
    rf"""(?P<value>\{{[^{{}}]*\}}|\[[^\[\]]*\]|{_QUOTED}|[^,}}\]\n"']*[^,}}\]\n"'\s])"""
)
_BEARER = re.compile(r"\b(?P<kind>Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_OVERRIDE = re.compile(r"(?P<key>[+~]*[\w.@/:-]+)=(?P<value>.*)", re.DOTALL)
_YAML_ENTRY = re.compile(r"""(?P<open>\s*(?:- )*)(?P<key>["']?[\w.@/+~-]+["']?):(?:\s+(?P<value>.*))?$""")
_YAML_ITEM = re.compile(r"(?P<open>\s*(?:- )+)(?P<value>.*)$")


def redact(value: Any) -> Any:
    """A copy of a nested value of plain types without its secrets.

    What stands under a secret name becomes `<redacted>`, whatever it holds, except None, booleans and empty texts,
    which tell that nothing was set. Every other text goes through `redact_text`.
    """
    match value:
        case Mapping():
            return {name: _hidden(entry) if is_secret(str(name)) else redact(entry) for name, entry in value.items()}
        case list() | tuple():
            return type(value)([redact_override(entry) if isinstance(entry, str) else redact(entry) for entry in value])
        case str():
            return redact_text(value)
    return value


def is_secret(name: str) -> bool:
    """Whether what stands under this name is to be hidden; `foo.hf_token` and `apiKey` are, `max_tokens` is not."""
    words = [word.lower() for word in _WORD.findall(name)]
    return (
        any(word in _SECRET_WORDS for word in words)
        or any(first in _KEY_OF and second == "key" for first, second in pairwise(words))
        or (words[-1:] == ["token"] and not (words[-2:-1] and words[-2] in _MODEL_TOKENS))
    )


def redact_text(text: str) -> str:
    """The text without user-info in URLs, and with `<redacted>` for values after a secret name (`=` or `:`)."""
    text = _USER_INFO.sub("", text)
    text = _PAIR.sub(_hide_pair, text)
    text = _ENTRY.sub(_hide_entry, text)
    return _BEARER.sub(rf"\g<kind> {REDACTED}", text)


def redact_override(text: str) -> str:
    """One override of the command line; after a secret key everything is hidden, quotes, commas and spaces too."""
    found = _OVERRIDE.fullmatch(text)
    if found and is_secret(found["key"]) and found["value"] not in _NO_SECRET:
        return f"{found['key']}={REDACTED}"
    return redact_text(text)


def redact_folder(folder: Path) -> None:
    """Rewrites `.hydra/*.yaml` of a run's folder without secrets; each file whole or not at all.

    Other lines stay byte for byte as they were, and what was valid YAML stays so.
    """
    for path in sorted((folder / ".hydra").glob("*.yaml")):
        redact_file(path)


def redact_file(path: Path) -> None:
    """Rewrites one YAML file without secrets, whole or not at all; a file that is not there needs none."""
    if not path.is_file():
        return
    text = path.read_bytes().decode("utf-8")
    clean = _redact_yaml(text)
    if clean != text:
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_bytes(clean.encode("utf-8"))
        temporary.replace(path)


class RedactingStream(io.TextIOBase):
    """A text stream that takes secrets out of what is written, text by text, and hands all else on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes the text without its secrets; returns its length as it came."""
        self._stream.write(redact_text(text))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream behind."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream behind is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The number of the file behind."""
        return self._stream.fileno()


class RedactingFilter(logging.Filter):
    """Takes secrets out of every record of a handler, tracebacks included.

    In a logging configuration: `filters: {secrets: {(): glyphrank.redaction.RedactingFilter}}`, named by the handlers.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True: records are changed, never dropped."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            return True  # a malformed record: logging reports it itself, where it is formatted
        clean = redact_text(message)
        if clean != message:
            record.msg, record.args = clean, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact_text(record.exc_text)  # formatters take the cached text
        return True


def _hidden(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) or value == "" else REDACTED


def _hide_pair(found: re.Match[str]) -> str:
    in_query = found.start() > 0 and found.string[found.start() - 1] in "?&"
    secret = is_secret(found["key"]) or (in_query and found["key"].lower().rpartition("-")[2] in _QUERY_SECRETS)
    if not secret or found["value"] in _NO_SECRET:
        return found[0]
    return f"{found['key']}{found['join']}{REDACTED}"


def _hide_entry(found: re.Match[str]) -> str:
    if not is_secret(found["key"]) or found["value"] in _NO_SECRET:
        return found[0]
    return f"{found['open']}{found['key']}{found['join']}{REDACTED}"


def _redact_yaml(text: str) -> str:
    """Block-style YAML line by line; a secret entry loses the lines that continue it."""
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    position = 0
    while position < len(lines):
        line = lines[position].rstrip("\r\n")
        ending = lines[position][len(line) :]
        position += 1
        entry, item = _YAML_ENTRY.match(line), _YAML_ITEM.match(line)
        if entry and is_secret(entry["key"]):
            after = _block_end(lines, position, len(entry["open"]), listed=not entry["value"])
            if (entry["value"] or "") not in _NO_SECRET or after > position:
                line, position = f"{entry['open']}{entry['key']}: {REDACTED}", after
        elif item and not entry:
            clean = _redact_scalar(item["value"], redact_override)
            if clean.endswith(f"={REDACTED}") and clean != item["value"]:
                position = _block_end(lines, position, len(item["open"]) - 1, listed=False)
            line = item["open"] + clean
        elif entry and entry["value"]:
            line = line[: entry.start("value")] + _redact_scalar(entry["value"], redact_text)
        else:
            line = redact_text(line)
        kept.append(line + ending)
    return "".join(kept)


def _block_end(lines: list[str], start: int, column: int, listed: bool) -> int:
    """Number of the first line from `start` on that does not continue an entry whose key stands in `column`."""
    for number in range(start, len(lines)):
        content = lines[number].strip()
        indent = len(lines[number]) - len(lines[number].lstrip(" "))
        in_list = listed and indent == column and content.startswith("-")
        if content and indent <= column and not in_list:
            return number
    return len(lines)


def _redact_scalar(scalar: str, clean: Callable[[str], str]) -> str:
    """A YAML scalar, in the quotes it has."""
    if len(scalar) > 1 and scalar[0] == scalar[-1] and scalar[0] in "'\"":
        quote, escaped = scalar[0], "''" if scalar[0] == "'" else '\\"'
        return quote + clean(scalar[1:-1].replace(escaped, quote)).replace(quote, escaped) + quote
    return clean(scalar)
