"""Takes secrets out of what a run writes down: configurations, texts, log records and Hydra's own copies.

Secret is what a name says is one (`token`, `api_key`, `password`, ...), user-info in a URL, and the secret parameters
of a URL's query. Names are compared word by word, so that `tokens`, `tokenizer` and `pad_token` stay readable. Where a
text does not tell how far a secret reaches, too much of it is hidden rather than too little.
"""

from __future__ import annotations

import io
import logging
import re
import sys
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, TextIO

from glyphrank.known_secrets import hide

REDACTED = "<redacted>"

_SECRET_WORDS = {"password", "passwords", "passwd", "passphrase", "pwd", "secret", "secrets", "authorization"}
_SECRET_WORDS |= {"credential", "credentials", "apikey", "accesskey"}
_SECRET_ENDS = ("password", "passwd", "apikey", "accesskey", "secretkey", "accesstoken", "authtoken")
_KEY_OF = frozenset({"api", "access", "private", "secret", "signing", "encryption", "account", "subscription", "auth"})
_MODEL_TOKENS = frozenset({"pad", "eos", "bos", "unk", "cls", "sep", "mask", "start", "stop", "end", "image"})
_QUERY_SECRETS = frozenset({"key", "sig", "signature"})
_NO_SECRET = frozenset({"", "null", "None", "~", "true", "True", "false", "False", "???", REDACTED})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_USER_INFO = re.compile(
    r"""(?:(?<=://)|(?:(?<=\w\w:/)|(?<=\\:/))(?!/))"""  # a path has one slash, and Hydra puts \ before the colon in it
    r"""(?:[^\s/@:"'<>]*:(?!\d+(?:[/?#\s"',)\]}]|$))(?:(?!\w://)(?:[^\s"'<>]|["'](?![,:;)\]}\s]|$))){0,4096}@"""
    r"""|[^\s/?#"'<>]*@)"""  # the first: a password, in which @ / ? # may stand unescaped
)
_BEARER = re.compile(r"\b(?P<kind>Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_KEY = re.compile(  # what may stand between a name and its value: = == := : => is found; a space after --name
    r"""(?<![\w.-])(?P<key>[\w.-]++)(?P<join>(?:\[\d+\])?\\*["'\]]*[ \t]*(?:(?P<colon>:)(?!//)=?|=+)>?[ \t]*+"""
    r"""(?:(?:found|is|was|got)[ \t]+(?=["']))?|[ \t]+(?:found|is|was|got)[ \t]+(?=["'])"""
    r"""|(?P<flag>["']?,?[ \t]++(?![-=:])))"""
)
_OVERRIDE = re.compile(r"(?P<key>[+~]*[\w.@/:-]+)=(?P<value>.*)", re.DOTALL)
_INTERPOLATION = re.compile(r"\$\{(?:oc\.env:\w+|[\w.]+)\}")
_EMPTY = re.compile(
    rf"""(?:{"|".join(re.escape(text) for text in sorted(_NO_SECRET, reverse=True))}|{_INTERPOLATION.pattern})"""
    r"""(?:[,;&)\]}"']*(?:\s|$)|[,;&)\]}]+[+~]*["']?[A-Za-z_][\w.@/-]*["']?[=:])"""
)
_BLOCK = re.compile(r"[|>]?[-+]?\s*$")
_NEXT_OVERRIDE = r",[+~]*[A-Za-z_][\w.@/-]*=(?!=|$)"
_NEXT_PAIR = r"[\s,][+~]*[A-Za-z_][\w.@/-]*=(?![=\s]|$)"
_LINE_START = re.compile(r"(?:^|\n|:[ \t])[ \t]*(?:- )*(?:#\d+ ?: )?$")
_AFTER_PAIR = re.compile(r"=[^\s=]*[\s,;|/]+$")
_WORDS_OF_SENTENCES = ("is", "are", "was", "has", "found", "wanted", "expected", "must", "cannot", "needs", "should")
_STRUCTURE = re.compile(r"[()\[\]{}'\"]")
_QUOTED = {
    quote: re.compile(rf"""{quote}(?:[^{quote}\\]|\\.|{quote}{quote}|{quote}(?=\w))*+{quote}""", re.DOTALL)
    for quote in "'\""
}


def redact(value: Any) -> Any:
    """A copy of a nested value of plain types without its secrets.

    What stands under a secret name becomes `<redacted>`, whatever it holds, except what tells that no secret stands
    here: None, booleans, empty texts, `???` and a plain interpolation (`${oc.env:HF_TOKEN}`). In every other text a
    secret reaches from its name to the next `,key=`, or to the end: such texts are lists of overrides.
    """
    match value:
        case Mapping():
            return {name: _hidden(entry) if is_secret(str(name)) else redact(entry) for name, entry in value.items()}
        case list() | tuple():
            return type(value)([redact_override(entry) if isinstance(entry, str) else redact(entry) for entry in value])
        case str():
            return _scrub(value, whole=True)
    return value


def is_secret(name: str) -> bool:
    """Whether what stands under this name is to be hidden; `foo.hf_token` and `apiKey` are, `max_tokens` is not."""
    words = [word.lower() for word in _WORD.findall(name)]
    return (
        any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) for word in words)
        or any(first in _KEY_OF and second == "key" for first, second in pairwise(words))
        or (words[-1:] == ["token"] and not (words[-2:-1] and words[-2] in _MODEL_TOKENS))
    )


def redact_text(text: str) -> str:
    """A message without user-info in URLs, and with `<redacted>` for what follows a secret name.

    After `name=` that is all up to the next `key=` or the end of the line where the line lists such pairs, inside
    quotes or brackets all up to their end, in the middle of a sentence one word. After `name:` it is one word, what is
    quoted, or the rest of a line that begins with the name; a sentence about the name (`api_key: is unknown`) stays.
    """
    # user-info goes first: with only its password hidden, a URL would keep the name
    return _scrub(hide(_without_user_info(text), REDACTED), whole=False)


def redact_override(text: str) -> str:
    """One override of the command line; after a secret key everything is hidden, quotes, commas and spaces too."""
    found = _OVERRIDE.fullmatch(text)
    hides = found and is_secret(found["key"]) and not _tells_nothing(found["value"])
    return f"{found['key']}={REDACTED}" if found and hides else _scrub(text, whole=True)


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
    keeps = value in ("", "???") or _INTERPOLATION.fullmatch(value) if isinstance(value, str) else False
    return value if keeps or value is None or isinstance(value, bool) else REDACTED


def _tells_nothing(value: str) -> bool:
    return value.strip("\"'") in _NO_SECRET or bool(_INTERPOLATION.fullmatch(value.strip("\"'")))


def _without_user_info(text: str) -> str:
    return _USER_INFO.sub("", text) if "@" in text else text


def _scrub(text: str, whole: bool) -> str:
    """The text without secrets; `whole` where it is a value of its own and not a message."""
    text = _BEARER.sub(rf"\g<kind> {REDACTED}", _without_user_info(text))
    kept: list[str] = []
    position = 0
    while found := _KEY.search(text, position):
        key, start, in_query = found["key"], found.end(), text[found.start() - 1 : found.start()] in ("?", "&")
        named = is_secret(key) and (key.startswith("-") or not found["flag"])
        secret = named or (in_query and key.lower().rpartition("-")[2] in _QUERY_SECRETS)
        end = _end_of_secret(found, whole) if secret else start
        space = " " if text.startswith("\n", start) else ""
        kept += [text[position:start], space + REDACTED if end > start else ""]
        position = end
    return "".join([*kept, text[position:]])


def _end_of_secret(found: re.Match[str], whole: bool) -> int:
    """Where the value after a secret name ends; where it begins if there is nothing to hide."""
    text, start = found.string, found.end()
    line = text[start : _first("\n", text, start)]
    if quoted := re.match(r"""\\*["']""", line):
        end = _end_of_quoted(text, start, quoted[0])
        nothing = _tells_nothing(text[start:end]) or not re.search(r"\w|.{6}", text[start:end])
    elif line[:1] in ("(", "[", "{"):
        end, nothing = _end_of_bracket(text, start), False
    else:
        end = start
        nothing = bool(_EMPTY.match(line))
    before = text[max(0, found.start() - 200) : found.start()].rstrip("+~")
    if found["colon"] and _BLOCK.match(line) and _LINE_START.search(before):
        return _end_of_block(found)
    if nothing:
        return start
    if whole and not found["colon"] and before[-1:] not in ("?", "&"):
        return _first(_NEXT_OVERRIDE, text, end)
    return end if end > start else _end_of_bare(found, before, whole)


def _end_of_bare(found: re.Match[str], before: str, whole: bool) -> int:
    """End of a value without quotes and brackets; what stands before its name tells what may end it."""
    text, start, colon = found.string, found.end(), found["colon"]
    end = _first("\n", text, start)
    if re.match(r"\\*[\"']", found["join"]):
        before = before.rstrip("\\\"'")
    if before[-1:] in ("?", "&") and not colon:
        return _first(r"""[\s&#"'<>]""", text, start, end)
    if (colon or found["flag"]) and re.match(rf"(?:{'|'.join(_WORDS_OF_SENTENCES)})\s", text[start:end]):
        return start
    if before[-1:] in ("'", '"') and not found["flag"]:
        return _first(rf"{before[-1]}(?!\w)", text, start, end)
    if before.rstrip()[-1:] in ("{", "[", "(") or (colon and before.rstrip()[-1:] == ","):
        return _first(rf"[)\]}}](?!\w)|{',' if colon else _NEXT_PAIR}", text, start, end)
    if colon and (whole or _LINE_START.search(before)):
        return end
    following = _first(_NEXT_PAIR, text, start, end)
    listed = following < end or _LINE_START.search(before) or _AFTER_PAIR.search(before)
    if listed and not colon and not found["flag"]:
        return following
    return start + len(re.split(r"\s", text[start:end], maxsplit=1)[0].rstrip(")]}\"',;."))


def _first(pattern: str, text: str, start: int, end: int = sys.maxsize) -> int:
    """Where the pattern is first met between two places, else the second of them."""
    found = re.compile(pattern).search(text, start, end)
    return found.start() if found else min(end, len(text))


def _end_of_quoted(text: str, start: int, opener: str) -> int:
    """Behind the quote that closes, with what hangs on to it; the end of the line where none does."""
    escaped = re.compile(rf"{re.escape(opener)}.*?{re.escape(opener)}", re.DOTALL)  # as in JSON inside JSON
    found = _QUOTED.get(opener, escaped).match(text, start)
    return found.end() if found else _first("\n", text, start)


def _end_of_bracket(text: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`; the end of the line where none does."""
    depth, position = 0, start
    while found := _STRUCTURE.search(text, position):
        position = found.end()
        if quoted := _QUOTED[found[0]].match(text, found.start()) if found[0] in _QUOTED else None:
            position = quoted.end()
        depth += (found[0] in "([{") - (found[0] in ")]}")
        if not depth:
            return position
    return _first("\n", text, start)


def _end_of_block(found: re.Match[str]) -> int:
    """Behind the lines of YAML that stand indented below a name, or as a list below it."""
    text = found.string
    indent = found.start() - (text.rfind("\n", 0, found.start()) + 1)
    end = _first("\n", text, found.end())
    lines = re.compile(rf"(?:\n(?:[ \t]{{{indent + 1},}}[^\n]*|[ \t]*(?=\n)| {{{indent}}}- [^\n]*))+").match(text, end)
    return lines.end() if lines else found.end()
