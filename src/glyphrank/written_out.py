"""Standard output of commands, whose reader may leave early."""

from __future__ import annotations

import os
import sys


def write_out(text: str) -> None:
    """Writes to standard output; a reader that closed it early (`| head`) has what it wanted."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would be written, and fail, once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
