"""Pickled messages between two processes, over a socket; each comes after its length in bytes."""

from __future__ import annotations

import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")


class Mailbox:
    """One end of a connection, with what has arrived of the next message.

    Args:
        end: the socket; where it does not block, `collect` does not either.
    """

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._expect(_LENGTH.size, is_length=True)

    def collect(self) -> bytearray | None:
        """The next message, pickled, as soon as all of it has arrived; None before.

        Raises:
            EOFError, OSError: the other end is closed, or its process dead.
        """
        while True:
            while self._filled < len(self._parts):
                try:
                    count = self.end.recv_into(memoryview(self._parts)[self._filled :])
                except BlockingIOError:
                    return None
                if not count:
                    raise EOFError
                self._filled += count
            whole = self._parts
            if not self._is_length:
                self._expect(_LENGTH.size, is_length=True)
                return whole
            (length,) = _LENGTH.unpack(whole)
            self._expect(length, is_length=False)

    def receive(self) -> Any:
        """Waits for the next message, at an end that blocks.

        Raises:
            EOFError, OSError: as for `collect`.
        """
        return pickle.loads(self.collect() or b"")  # noqa: S301 -- the other end is our own process

    def send(self, message: object) -> None:
        """Sends a message, within the time that is set for the socket.

        Raises:
            OSError: the process at the other end is dead, or has not taken it in time; then no other can follow.
        """
        data = pickle.dumps(message, protocol=5)
        self.end.sendall(_LENGTH.pack(len(data)))
        self.end.sendall(data)

    def _expect(self, length: int, is_length: bool) -> None:
        self._parts, self._filled, self._is_length = bytearray(length), 0, is_length
