"""Objects of JSON that know which of their keys stood twice; a plain one silently takes the last value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence


class JsonObject(dict[str, object]):
    """An object of JSON as Python reads it, each key with its last value; `json.loads(text, object_pairs_hook=...)`.

    Attributes:
        twice: the keys that stood more than once, in their order.
    """

    twice: tuple[str, ...]

    def __init__(self, pairs: Sequence[tuple[str, object]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs) if len(self) < len(pairs) else {}
        self.twice = tuple(key for key, count in counts.items() if count > 1)


def refuse_repeated(value: object, spell: Callable[[str], str]) -> None:
    """Refuses a value in which a key stands twice in one object.

    Args:
        spell: how the message shows the key.

    Raises:
        ValueError: there is one.
    """
    key = repeated_key(value)
    if key is not None:
        raise ValueError(f"the key {spell(key)} stands twice in one object; wanted it once")


def repeated_key(value: object) -> str | None:
    """A key that stands twice in one object, which may be the value or lie in it at any depth; None without one."""
    waiting = [value]
    while waiting:  # not by recursion: JSON may be nested nearly as deeply as Python allows
        found = waiting.pop()
        if isinstance(found, JsonObject):
            if found.twice:
                return found.twice[0]
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
    return None
