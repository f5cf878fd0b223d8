"""The store of one machine: an SQLite file in the folder of outputs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar

from glyphrank.runtime import Runtime
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.places import local_place
from glyphrank.tracking.run import open_run
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import check_experiment


@dataclass(frozen=True)
class Local:
    """Keeps runs in `mlflow.db` and their files in `mlartifacts/`, both under `paths.outputs`.

    Attributes:
        experiment: MLflow's experiment, 1 to 500 characters; made if it is not there.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    experiment: str

    def __post_init__(self) -> None:
        check_experiment(self.experiment)

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        """A run in the SQLite file; see `glyphrank.tracking.Tracker`."""
        return open_run(local_place(runtime.outputs, self.experiment), start)
