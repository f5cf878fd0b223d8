"""Leases on devices, so that processes of one host which run at once take different ones: one lock file a device."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from glyphrank.file_locks import file_lock

POLL = 1.0
"""Seconds between two looks for a device that has become free."""
PATIENCE = 86_400.0
"""Seconds after which a device is shared: a lease is a courtesy, and its holder may be stuck."""

_FOR_ALL = 0o777

logger = logging.getLogger(__name__)


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
        shares one; a device whose lock is refused is shared after one warning, where no other is free.

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
        try:
            self._make_folder()
            waited = False
            end = time.monotonic() + PATIENCE
            while (device := self._try(devices)) is None:
                if time.monotonic() > end:
                    shared = _one_of(devices)
                    logger.warning(
                        "no device became free in %d s; %s is shared with whoever holds it", PATIENCE, shared
                    )
                    return shared
                if not waited:
                    logger.info("all %d devices are held by other processes: waiting for one", len(devices))
                    waited = True
                time.sleep(POLL)
        except OSError as error:
            return self._share(devices, error)
        return device

    def _make_folder(self) -> None:
        """Lets every user's processes write here.

        Not as in the temporary folder itself, where each removes only what is its own (the sticky bit): there a lock
        file of another user is not trusted, and not locked.
        """
        with suppress(FileExistsError):
            self.folder.mkdir(parents=True)
        state = self.folder.lstat()
        ours = stat.S_ISDIR(state.st_mode) and hasattr(os, "getuid") and state.st_uid == os.getuid()
        if ours and stat.S_IMODE(state.st_mode) != _FOR_ALL:
            self.folder.chmod(_FOR_ALL)

    def _try(self, devices: Sequence[str]) -> str | None:
        """The first device whose lock could be had; None while others hold all.

        Where none is free and locks were refused, a device is taken whose lock cannot tell whether somebody holds it.
        """
        refused: dict[str, Exception] = {}
        for device in sorted(devices, key=lambda name: name != self._device):
            lock = file_lock(self.folder / f"{device}.lock", mode=0o666, thread_local=False)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            except (OSError, NotImplementedError) as error:
                refused[device] = error
                continue
            self._mine = lock
            return device
        return self._share(list(refused), next(iter(refused.values()))) if refused else None

    def _share(self, devices: Sequence[str], error: Exception) -> str:
        shared = _one_of(devices)
        logger.warning("%s: no lease on a device (%s); %s may be shared with others", self.folder, error, shared)
        return shared


def _one_of(devices: Sequence[str]) -> str:
    return devices[os.getpid() % len(devices)]
