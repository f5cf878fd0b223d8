"""The two faults a person can mend: in the configuration, and in the data.

A message says what was found, what was wanted, which id or file is meant, and what to do.
"""


class ConfigError(Exception):
    """The configuration cannot be built: every fault that was found stands in the message, one a line."""


class DataError(Exception):
    """An input (dataset, run file, weights) is missing, damaged or contradicts itself."""
