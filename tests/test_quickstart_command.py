"""What the quickstart says of its clips, out of the files of a finished sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glyphrank.quickstart_command import shown


def row(number: int, visual: str, index: str, value: float, p_adjusted: float | None) -> dict[str, Any]:
    fields = {"visual": visual, "index": index}
    return {"name": f"cell {number}", "fields": fields, "values": {"hit_rate_at_1": value}, "p_adjusted": p_adjusted}


def sweep(folder: Path, *rows: dict[str, Any]) -> Path:
    comparison = {"queries": 180, "runs": rows}
    (folder / "comparison.json").write_text(json.dumps(comparison), encoding="utf-8")
    for number in range(len(rows)):
        report = {"channels": {"visual": {"hit_rate_at_1": 0.2 + number / 100}}}
        (folder / str(number)).mkdir()
        (folder / str(number) / "report.json").write_text(json.dumps(report), encoding="utf-8")
    return folder


def test_the_best_run_with_pictures_is_told_beside_the_same_without_them_and_its_own_sight_alone(
    tmp_path: Path,
) -> None:
    said, missed = shown(
        sweep(
            tmp_path,
            row(3, "sample_scenes", "faiss_hnsw", 0.97, None),
            row(1, "sample_scenes", "exact", 0.96, 1.0),
            row(2, "none", "exact", 0.3, 0.0001),
            row(0, "none", "faiss_hnsw", 0.25, 0.0002),
        )
    )
    assert "for 97% of 180 queries, reading alone for 25% (p < .001), seeing alone for 23%:" in said
    assert missed == tmp_path / "0"


@pytest.mark.parametrize(
    ("chance", "told"), [(0.04, "(p = .040)"), (0.4, "(p = .400, so that chance may have done it)")]
)
def test_a_difference_that_chance_may_have_made_is_called_so(tmp_path: Path, chance: float, told: str) -> None:
    rows = row(0, "sample_scenes", "exact", 0.5, None), row(1, "none", "exact", 0.4, chance)
    assert f"reading alone for 40% {told}" in shown(sweep(tmp_path, *rows))[0]
