"""The commands that a page of documentation tells its reader to type."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Told:
    """One command.

    Attributes:
        section: the heading of second order above it.
        text: as it stands there, on one line and without its comment.
        env: variables that it sets.
        words: its program and arguments.
    """

    section: str
    text: str
    env: dict[str, str]
    words: list[str]


def told_commands(page: Path) -> list[Told]:
    """The commands in fenced blocks without a language, which are those that are typed; pictures are left out."""
    found: list[Told] = []
    section, is_typed = "", False
    block: list[str] | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            if block:
                found += [_told(section, text) for text in _typed(block)]
            block = [] if block is None else None
            is_typed = line == "```"
        elif block is not None and is_typed:
            block.append(line)
        elif line.startswith("## "):
            section = line.removeprefix("## ")
    return found


def inline_commands(page: Path) -> list[str]:
    """The commands that stand in running text, as code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    code = [" ".join(part.split()) for part in re.findall(r"`([^`]+)`", text)]
    return [part for part in code if re.match(r"(glyphrank|make|python|pip) ", part)]


def _typed(block: list[str]) -> list[str]:
    """The lines of a block, those that go on put together; a block with lines of a drawing has none."""
    text = "\n".join(block)
    if re.search(r"[─│┌└┬]", text):
        return []
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [typed for line in lines if (typed := re.split(r"\s+#\s", line, maxsplit=1)[0].strip())]


def _told(section: str, text: str) -> Told:
    words = shlex.split(text)
    env = {}
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    return Told(section, text, env, words)
