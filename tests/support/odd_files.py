"""What may stand in a folder under the name of a file without being one."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def odd_file(path: Path, kind: str) -> Path:
    """Something of the kind at the path; a device is the null device, through a link."""
    if kind == "a directory":
        path.mkdir()
    elif kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(path))  # the system allows no more than about a hundred characters
    else:
        path.symlink_to(os.devnull)
    return path
