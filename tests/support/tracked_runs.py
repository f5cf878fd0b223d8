"""Small runs, reports and stores for the tests of tracking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from glyphrank.outcome import Report
from glyphrank.runtime import Runtime
from glyphrank.tracking.start import Start

REPORT = Report(
    identity="1d" * 16,
    task="두 쪽",
    primary="ndcg_at_10",
    metrics={"ndcg_at_10": 0.75, "recall_at_1": 0.5, "v2t/median_rank": 2.0},
    bounds={},
    channels={"lexical": {"ndcg_at_10": 0.25}},
    slices={"type": {"표": {"ndcg_at_10": 1.0, "queries": 1.0}}},
    counts={"queries": 2, "items": 2, "failed_items": 0},
    failures={},
    losses={},
    views={"lexical": {"view": "text", "source": "embedded"}},
    listed={},
    tags={},
    lineage={"dataset": "f1" * 16, "lexical": "a1" * 16},
    notes=(),
    config={},
)


def runtime_in(outputs: Path) -> Runtime:
    return Runtime(
        device="cpu",
        batch_size=1,
        workers=0,
        media_seconds=60,
        media_memory=4,
        download=False,
        outputs=outputs,
        cache=outputs / "cache",
    )


def start_in(folder: Path, config: Mapping[str, object] | None = None, overrides: tuple[str, ...] = ()) -> Start:
    """A run whose overrides name all of its config."""
    choices = {"dataset": "sample_pages", "encoder@lexical": "bm25_words"}
    config = config or {"lexical": {"k1": 1.2}}
    return Start("낱말 1", choices, config, overrides, folder, named=tuple(config))


def report_with(**changes: Any) -> Report:
    return replace(REPORT, **changes)


def run_folder(parent: Path) -> Path:
    """A run's folder with a report and Hydra's copies, in which a secret stands."""
    folder = parent / "run"
    (folder / ".hydra").mkdir(parents=True)
    (folder / "report.json").write_text('{"metrics": {}}', encoding="utf-8")
    (folder / ".hydra" / "overrides.yaml").write_text("- foo.token=hush\n", encoding="utf-8")
    return folder


def client_of(outputs: Path) -> Any:
    from glyphrank.tracking.client import connect

    return connect(f"sqlite:///{outputs / 'mlflow.db'}")


def runs_of(outputs: Path, experiment: str = "glyphrank") -> list[Any]:
    client = client_of(outputs)
    return list(client.search_runs([client.get_experiment_by_name(experiment).experiment_id]))


def files_of(client: Any, run_id: str, path: str | None = None) -> set[str]:
    found: set[str] = set()
    for entry in client.list_artifacts(run_id, path):
        found |= files_of(client, run_id, entry.path) if entry.is_dir else {entry.path}
    return found
