"""Processes that all begin a run in a new store at the same moment; run as a script: FOLDER COUNT [URI].

They are forked after MLflow was imported, so that they truly meet, and wait for one another at a pipe.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from glyphrank.tracking import Tracker
from glyphrank.tracking.client import connect
from glyphrank.tracking.local import Local
from glyphrank.tracking.server import Server
from tracked_runs import report_with, run_folder, runtime_in, start_in


def main() -> int:
    outputs, count = Path(sys.argv[1]), int(sys.argv[2])
    tracker: Tracker = Server("many", sys.argv[3]) if len(sys.argv) > 3 else Local("many")
    connect("sqlite://")  # in memory, so that no open file is inherited
    reader, writer = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if not child:
            os.close(writer)
            os.read(reader, 1)
            os._exit(work(tracker, outputs, number))
        children.append(child)
    os.close(writer)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


def work(tracker: Tracker, outputs: Path, number: int) -> int:
    try:
        folder = run_folder(outputs.parent / str(number))
        start = start_in(folder, {"lexical": {"k1": number}})
        with tracker.start(start, runtime_in(outputs)) as run:
            run.log(report_with(metrics={"recall_at_1": number / 100}), folder, reused=False)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
