"""The two faults a person can mend: in the configuration, and in the data.

A message says what was found, what was wanted, which id or file is meant, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class ConfigError(Exception):
    """The configuration cannot be built: every fault that was found stands in the message, one a line."""


class DataError(Exception):
    """An input (dataset, run file, weights) is missing, damaged or contradicts itself.

    Args:
        message: for people; of many faults it may spell out the first and count the rest.
        faults: all of them; none where the message is the only one.

    Attributes:
        faults: every fault, each naming its file; only the message where that is all. Pickling keeps them.
    """

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults: tuple[str, ...] = tuple(faults) or (message,)
