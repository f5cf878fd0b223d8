"""Patterns by which a dataset card names files: as the shell has them."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

_MOST = 1000
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def fits(name: str, pattern: str) -> bool:
    """Whether a pattern means a file: `*`, `?`, `[abc]` and `[!abc]` stay within a folder, a `**` of its own does not.

    >>> fits("a/b/c.jsonl", "**/[!x].jsonl"), fits("a/b/c.jsonl", "a/*.jsonl")
    (True, False)
    """
    parts = name.split("/")
    reached = {0}  # how many parts what was read of the pattern may stand for
    for piece in pattern.split("/"):
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], piece)}
        if not reached:
            return False
    return len(parts) in reached


def alternatives(pattern: str) -> list[str]:
    """The patterns that one with braces stands for.

    >>> alternatives("{a,b{0,1}}.jsonl")
    ['a.jsonl', 'b0.jsonl', 'b1.jsonl']

    Raises:
        ValueError: there are more than 1000.
    """
    found: dict[str, None] = {}
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        braces = _BRACES.search(one)
        if braces is None:
            found[one] = None
        else:
            ends = reversed(braces[1].split(","))
            waiting += [f"{one[: braces.start()]}{end}{one[braces.end() :]}" for end in ends]
        if len(found) + len(waiting) > _MOST:
            raise ValueError(f"the pattern {pattern!r} has more than {_MOST} alternatives in braces")
    return list(found)
