"""Processes with a run in MLflow that signals reach at chosen moments; run as a script, it prints what became of them.

Each scenario is a forked child, so that MLflow is imported once. The child writes a word when a moment is reached, and
the parent answers with a signal.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from glyphrank.tracking.client import connect
from glyphrank.tracking.local import Local
from tracked_runs import runtime_in, start_in

OPENED: list[Any] = []
OUTPUTS = Path(sys.argv[1]) if __name__ == "__main__" else Path()


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


def context(name: str) -> Any:
    return Local(name).start(start_in(OUTPUTS), runtime_in(OUTPUTS))


def waits(name: str) -> None:
    with context(name):
        try:
            say("ready")
            time.sleep(30)
        finally:
            say("cleaned")


def is_hit_while_created(name: str) -> None:
    import mlflow.tracking

    create = mlflow.tracking.MlflowClient.create_run

    def slowly(*arguments: Any, **options: Any) -> Any:
        created = create(*arguments, **options)
        say("creating")
        time.sleep(0.5)
        return created

    mlflow.tracking.MlflowClient.create_run = slowly
    with context(name):
        say("entered")


def is_hit_while_ended(name: str) -> None:
    import mlflow.tracking

    terminate = mlflow.tracking.MlflowClient.set_terminated

    def slowly(*arguments: Any, **options: Any) -> None:
        say("ending")
        time.sleep(0.5)
        terminate(*arguments, **options)

    mlflow.tracking.MlflowClient.set_terminated = slowly
    with context(name):
        if name == "twice":
            say("ready")
            time.sleep(30)


def is_hit_before_the_block(name: str) -> None:
    opened = context(name)
    OPENED.append(opened)  # something holds on to it, so that its clean-up is not left to the collector
    opened.__enter__()
    say("ready")
    time.sleep(30)


def has_children(name: str) -> None:
    with context(name):
        for kind in ("leaves", "fails", "waits"):
            child = os.fork()
            if not child:
                if kind == "fails":
                    raise OSError("in the child")
                if kind == "waits":
                    time.sleep(30)
                return
            if kind == "waits":
                time.sleep(0.3)
                os.kill(child, signal.SIGTERM)
            say(f"{kind} {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")
        client = connect(f"sqlite:///{OUTPUTS / 'mlflow.db'}")
        (run,) = client.search_runs([client.get_experiment_by_name(name).experiment_id])
        say(run.info.status)


SCENARIOS: dict[str, tuple[Callable[[str], None], Sequence[tuple[str, signal.Signals]]]] = {
    "sigterm": (waits, [("ready", signal.SIGTERM)]),
    "sighup": (waits, [("ready", signal.SIGHUP)]),
    "sigint": (waits, [("ready", signal.SIGINT)]),
    "creating": (is_hit_while_created, [("creating", signal.SIGTERM)]),
    "ending": (is_hit_while_ended, [("ending", signal.SIGTERM)]),
    "twice": (is_hit_while_ended, [("ready", signal.SIGTERM), ("ending", signal.SIGINT)]),
    "before": (is_hit_before_the_block, [("ready", signal.SIGTERM)]),
    "children": (has_children, []),
}


def main() -> None:
    connect("sqlite://")  # imports MLflow, in memory, so that no open file is inherited
    print(json.dumps({name: outcome(name) for name in SCENARIOS}))


def outcome(name: str) -> dict[str, object]:
    """Exit code (minus the signal's number where one killed it), words, seconds from the last signal to the end."""
    work, answers = SCENARIOS[name]
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 1)
        become(work, name)
    os.close(writer)
    words, last = "", time.monotonic()
    for moment, signum in answers:
        while moment not in words.split():
            words += os.read(reader, 1000).decode() or "closed " * 1000 + moment
        last = time.monotonic()
        os.kill(child, signum)
    while piece := os.read(reader, 1000):
        words += piece.decode()
    _, status = os.waitpid(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "words": words.splitlines(),
        "seconds": time.monotonic() - last,
    }


def become(work: Callable[[str], None], name: str) -> NoReturn:
    """Runs a scenario in the child and leaves as a program does, so that what is registered for its exit is done."""
    try:
        work(name)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


if __name__ == "__main__":
    main()
