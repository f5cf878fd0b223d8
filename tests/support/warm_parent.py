"""Runs commands as children of a process that has imported what they are slow to import; see `warm_process`."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TextIO, TypeVar

import warm_process

_T = TypeVar("_T")


class WarmParent:
    """The process, started at the first command; ends with this one.

    Args:
        surroundings: the environment that it has, and each command but for what `warm_process.FREE` names.
    """

    def __init__(self, surroundings: Mapping[str, str]) -> None:
        self._surroundings = dict(surroundings)
        self._requests: socket.socket | None = None
        self._starting = threading.Lock()

    def serves(self, env: Mapping[str, str]) -> bool:
        """Whether a command with this environment may be its child; others need an interpreter of their own."""
        return sys.platform == "linux" and warm_process.is_usual(self._surroundings, env)

    def run(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run` of `python -m glyphrank ARGUMENTS`, with its text.

        Raises:
            subprocess.TimeoutExpired: it took longer; it and what it had started were killed.
        """
        child = self.start(arguments, cwd, env, keeps_number=False)
        try:
            outputs, errors = child.communicate(seconds)
        finally:
            child.end()
        return subprocess.CompletedProcess(child.args, child.wait(), outputs, errors)

    def start(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], keeps_number: bool = True
    ) -> WarmChild:
        """As `subprocess.Popen`, with pipes for its text.

        Args:
            keeps_number: a command that replaces its process stays the process that it is, as signals to it need it;
                that costs the imports. Otherwise it is another child.
        """
        request = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "keeps_number": keeps_number}
        outputs, errors = os.pipe(), os.pipe()
        own, theirs = socket.socketpair()
        socket.send_fds(self._started(), [b"."], [theirs.fileno(), outputs[1], errors[1]])
        theirs.close()
        os.close(outputs[1])
        os.close(errors[1])
        own.sendall(json.dumps(request).encode() + b"\n")
        return WarmChild([sys.executable, "-m", "glyphrank", *arguments], own, (outputs[0], errors[0]))

    def _started(self) -> socket.socket:
        with self._starting:
            if self._requests is None:
                self._requests, theirs = socket.socketpair()
                with theirs:
                    process = subprocess.Popen(
                        [sys.executable, warm_process.__file__, str(theirs.fileno())],
                        env=self._surroundings,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        pass_fds=[theirs.fileno()],
                    )
                atexit.register(_end, self._requests, process)
            return self._requests


class WarmChild:
    """A command that was started; what it has of `subprocess.Popen` means the same. `communicate` ends every use.

    Attributes:
        args: the command whose place it takes.
        pid: its number; the first one's, where it does not keep it.
    """

    def __init__(self, args: list[str], told: socket.socket, ends: tuple[int, int]) -> None:
        self.args = args
        self._told = told
        self._answers = told.makefile("r", encoding="utf-8")
        self._group, self.pid = (json.loads(self._answers.readline()) for _ in range(2))
        self._threads = ThreadPoolExecutor(3)
        self._texts = [self._threads.submit(_read, end) for end in ends]
        self._code = self._threads.submit(_last, self._answers)

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        return self._code.result() if self._code.done() else None

    def wait(self, timeout: float | None = None) -> int:
        return self._of(self._code, timeout)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        outputs, errors = (self._of(text, timeout) for text in self._texts)
        self._of(self._code, timeout)
        self._close()
        return outputs, errors

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Kills it and all processes that it started, if any of them is left that keeps its output open."""
        if not self._code.done() or not all(text.done() for text in self._texts):
            os.killpg(self._group, signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        self._threads.shutdown()
        self._answers.close()
        self._told.close()

    def _of(self, future: Future[_T], timeout: float | None) -> _T:
        try:
            return future.result(timeout)
        except TimeoutError as late:
            raise subprocess.TimeoutExpired(self.args, timeout or 0) from late


def _read(end: int) -> str:
    with open(end) as stream:  # text and line ends as `subprocess` reads them
        return stream.read()


def _last(answers: TextIO) -> int:
    """The exit code, which the supervisor tells last; that of a killed process where it was killed itself."""
    line = answers.readline()
    return int(json.loads(line)) if line else -signal.SIGKILL


def _end(requests: socket.socket, process: subprocess.Popen[bytes]) -> None:
    requests.close()
    process.wait()
