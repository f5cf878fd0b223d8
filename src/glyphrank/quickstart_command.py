"""`glyphrank quickstart`: both samples as sweeps, what they show in a sentence, and where to go from there."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glyphrank.report.compared import COMPARISON
from glyphrank.report.results import REPORT
from glyphrank.tracking.logins import dashboard_of
from glyphrank.written_out import write_out

METRIC = "hit_rate_at_1"
_SWEEPS = {
    "quickstart": "pages in Korean and English, with the text that lies in them",
    "quickstart_clips": "clips of scenes with signs: decoded, read by EasyOCR, seen by a small open_clip model",
}
_CLIPS = "quickstart_clips"


def run_quickstart(argv: Sequence[str]) -> int:
    """The command; returns the exit code of the first sweep that failed, or 0."""
    from glyphrank.__main__ import run

    parser = argparse.ArgumentParser(
        prog="glyphrank quickstart",
        description="Runs the samples: generated pages and generated clips, each a small sweep. What is finished is "
        "not done again. Three minutes on two cores; no network is needed.",
    )
    try:
        parser.parse_args(argv)
    except SystemExit as leave:
        return int(leave.code or 0)
    outputs = Path(os.environ.get("GLYPHRANK_OUTPUTS") or "outputs")
    places = {name: outputs / "sweeps" / name for name in _SWEEPS}
    for name, what in _SWEEPS.items():
        write_out(f"\n{name}: {what}\n")
        folder = str(places[name]).replace("\\", "\\\\").replace("'", "\\'")
        code = run(["-m", f"experiment={name}", f"hydra.sweep.dir='{folder}'"])
        if code:
            return code
    said, missed = shown(places[_CLIPS])
    write_out("\n".join(["", said, "", *_next(outputs, missed)]))
    return 0


def shown(sweep: Path) -> tuple[str, Path]:
    """What the clips show, in a sentence made of the sweep's numbers, and the folder of the run that only reads.

    Args:
        sweep: its folder; its cells with and without a visual channel differ in nothing else.
    """
    comparison = json.loads((sweep / COMPARISON[2]).read_text(encoding="utf-8"))
    rows = comparison["runs"]
    both = next(row for row in rows if row["fields"]["visual"] != "none")
    others = {name: value for name, value in both["fields"].items() if name != "visual"}
    read = next(row for row in rows if row["fields"] == {**others, "visual": "none"})
    seen = _report(sweep, both["name"])["channels"]["visual"][METRIC]
    told = read["p_adjusted"] is not None and read["p_adjusted"] < 0.05
    said = (
        f"Seeing and reading together put the right clip first for {both['values'][METRIC]:.0%} of "
        f"{comparison['queries']} queries, reading alone for {read['values'][METRIC]:.0%} "
        f"({_chance(read['p_adjusted'])}{'' if told else ', so that chance may have done it'}), seeing alone for "
        f"{seen:.0%}: each sign hangs in four scenes and each scene shows four signs, so that only both together tell "
        "a clip from the others."
    )
    return said, _folder(sweep, read["name"])


def _report(sweep: Path, name: str) -> Any:
    return json.loads((_folder(sweep, name) / REPORT).read_text(encoding="utf-8"))


def _folder(sweep: Path, name: str) -> Path:
    """Of the cell of that name, `cell 3`."""
    return sweep / name.rpartition(" ")[2]


def _chance(p_value: float | None) -> str:
    if p_value is None:
        return "the best run"
    return "p < .001" if p_value < 0.001 else f"p = {p_value:.3f}".replace("0.", ".")


def _next(outputs: Path, missed: Path) -> list[str]:
    """The commands that lead on, as they can be typed in this shell."""
    own = "glyphrank" if shutil.which("glyphrank") else shlex.join([sys.executable, "-m", "glyphrank"])
    uri = f"sqlite:///{(outputs / 'mlflow.db').absolute()}"
    return [
        f"dashboard:       {dashboard_of(uri)}",
        f"what it missed:  {own} report {shlex.quote(str(missed))}     (of the run that reads and does not see)",
        f"one more sweep:  {own} run -m experiment={_CLIPS} frames.count=1,2 fusion=reciprocal_rank,weighted_sum",
        f"your own:        {own} new mine FOLDER     (a folder of PDFs, pictures or clips)",
    ]
