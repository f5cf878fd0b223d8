"""What the next cell of a sweep may need again, kept in memory: the last value of each kind, the last calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def recent(calls: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keeps what the last few calls of a function returned; values are shared, so nobody may change them.

    Arguments, which must not change, are compared and not hashed: tuples whose elements are the same objects as before
    cost next to nothing, however many and however long those are.
    """

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        kept: deque[tuple[object, T]] = deque(maxlen=calls)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            asked = (args, kwargs)
            for number, (arguments, value) in enumerate(tuple(kept)):
                if arguments == asked:
                    kept[number] = asked, value  # equal, perhaps not the same: whoever asks again has these
                    return value
            value = function(*args, **kwargs)
            kept.append((asked, value))
            return value

        return call

    return keeping


class LastValue(Generic[T]):
    """The last value of one kind, with the key of all that decided it. Values are shared, so nobody may change them."""

    def __init__(self) -> None:
        self._held: tuple[Hashable, T] | None = None

    def get(self, key: Hashable, make: Callable[[], T], is_good: Callable[[T], bool] = lambda value: True) -> T:
        """The kept value where it was made under an equal key, else what `make` returns, which is kept from now on.

        The former value goes before the new one is made, so that two are never held at once.

        Args:
            is_good: a new value that is not is returned and not kept, so that the next one is made anew.
        """
        self.keep_only(key)
        held = self._held
        if held is not None:
            return held[1]
        value = make()
        if is_good(value):
            self._held = (key, value)
        return value

    def keep_only(self, key: Hashable) -> None:
        """Lets go of a value that was made under another key."""
        if self._held is not None and self._held[0] != key:
            self._held = None

    def keep_if(self, is_good: Callable[[T], bool]) -> None:
        """Lets go of a value that is not good any more."""
        if self._held is not None and not is_good(self._held[1]):
            self._held = None
