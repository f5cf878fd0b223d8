"""The store of one machine: an SQLite file in the folder of outputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from glyphrank.runtime import Runtime
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.database import open_database
from glyphrank.tracking.run import open_run
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import check_experiment


@dataclass(frozen=True)
class Local:
    """Keeps runs in `mlflow.db` and their files in `mlartifacts/`, both in `runtime.outputs`.

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
        return self._tracked(start, runtime)

    @contextmanager
    def _tracked(self, start: Start, runtime: Runtime) -> Iterator[TrackedRun]:
        outputs = runtime.outputs.absolute()
        open_store = partial(open_database, outputs / "mlflow.db", self.experiment, outputs / "mlartifacts")
        with open_run(f"{outputs} {self.experiment}", open_store, start) as run:
            yield run
