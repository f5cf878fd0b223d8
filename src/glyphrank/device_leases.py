"""Leases on devices, so that processes of one host which run at once take different ones: one lock file a device."""

from __future__ import annotations

import inspect
import logging
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

POLL = 1.0
"""Seconds between two looks for a device that has become free."""
PATIENCE = 86_400.0
"""Seconds after which a device is shared: a lease is a courtesy, and its holder may be stuck."""

logger = logging.getLogger(__name__)

# A soft lock outlives a process that was killed.
_OPTIONS: dict[str, Any] = (
    {"fallback_to_soft": False} if "fallback_to_soft" in inspect.signature(FileLock.__init__).parameters else {}
)


def lease_folder() -> Path:
    """Where all processes of this host look for leases, whoever runs them."""
    return Path(tempfile.gettempdir()) / "glyphrank-devices"


class DeviceLeases:
    """The lease of one cell, which holds at most one device; it ends with `release` or with the process.

    Attributes:
        folder: holds the lock files, named after the devices; it is made, and may be used by several users.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mine: FileLock | None = None
        self._device: str | None = None  # kept after `release`: a model may still lie on it
        self._holding = False
        self._turn = threading.Lock()

    def take(self, devices: Sequence[str]) -> int:
        """The place in `devices` of the one that is held from now on; the same until `release`.

        The device held last is tried first. Where all are held by others, this waits for one, and after `PATIENCE`
        shares one; where the file system refuses locks, they are shared after one warning.

        Args:
            devices: names that mean the same to all processes of this host, at least one.
        """
        with self._turn:
            if not (self._holding and self._device in devices):
                self._end()
                self._device = self._find(devices)
                self._holding = True
            return list(devices).index(str(self._device))

    def release(self) -> None:
        """Ends the lease; nothing happens where there is none."""
        with self._turn:
            self._end()

    def _end(self) -> None:
        self._holding = False
        if self._mine is not None:
            with suppress(OSError):
                self._mine.release()
            self._mine = None

    def _find(self, devices: Sequence[str]) -> str:
        shared = devices[os.getpid() % len(devices)]
        try:
            self._make_folder()
            waited = False
            end = time.monotonic() + PATIENCE
            while (device := self._try(devices)) is None:
                if time.monotonic() > end:
                    logger.warning(
                        "no device became free in %d s; %s is shared with whoever holds it", PATIENCE, shared
                    )
                    return shared
                if not waited:
                    logger.info("all %d devices are held by other processes: waiting for one", len(devices))
                    waited = True
                time.sleep(POLL)
        except (OSError, NotImplementedError) as error:
            logger.warning("%s: no leases on devices (%s); processes may share one", self.folder, error)
            return shared
        return device

    def _make_folder(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            self.folder.chmod(0o1777)  # as the temporary folder itself: every user's processes come here

    def _try(self, devices: Sequence[str]) -> str | None:
        for device in sorted(devices, key=lambda name: name != self._device):
            lock = FileLock(self.folder / f"{device}.lock", mode=0o666, thread_local=False, **_OPTIONS)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            self._mine = lock
            return device
        return None
