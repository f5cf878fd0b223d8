"""A store that many people share: an MLflow server, or a database."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar

from glyphrank.runtime import Runtime
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.places import remote_place
from glyphrank.tracking.run import open_run
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import check_experiment
from glyphrank.tracking.uris import shown_uri


@dataclass(frozen=True)
class Server:
    """Keeps runs where `uri` says: `http(s)://host:port`, `postgresql://...`, `sqlite:////path.db`, `databricks`.

    Attributes:
        experiment: MLflow's experiment, 1 to 500 characters; made if it is not there.
        uri: MLflow's tracking URI; None, where MLFLOW_TRACKING_URI is not set, is refused. Credentials in it are used
            to connect, and appear in no parameter, tag or message.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    experiment: str
    uri: str | None

    def __post_init__(self) -> None:
        check_experiment(self.experiment)
        if not (self.uri or "").strip():
            raise ValueError(
                f"uri is {self.uri!r}; wanted a tracking URI: set MLFLOW_TRACKING_URI, or use tracking=local"
            )

    def __repr__(self) -> str:
        return f"Server(experiment={self.experiment!r}, uri={shown_uri(self.uri or '')!r})"

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        """A run on the server; see `glyphrank.tracking.Tracker`."""
        place = remote_place(self.uri or "", self.experiment, start.launched_from, runtime.outputs)
        return open_run(place, start)
