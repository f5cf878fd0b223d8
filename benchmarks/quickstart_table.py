"""The README's table: runs the quickstart sweep in a folder of its own and prints its results as Markdown.

python benchmarks/quickstart_table.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

COLUMNS = ("hit_rate_at_1", "hit_rate_at_5", "recall_at_10", "ndcg_at_10", "mean_rank")


def main() -> int:
    """Runs and prints."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "glyphrank", "run", "-m", "experiment=quickstart", "tracking=none"]
        environment = {**os.environ, "GLYPHRANK_OUTPUTS": folder}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        files = sorted(Path(folder).glob("sweeps/*/*/*/report.json"))
        reports = [json.loads(path.read_text(encoding="utf-8")) for path in files]
        choices = [_choices(path.parent) for path in files]
    print(f"| lexical | text | {' | '.join(COLUMNS)} | hit_rate_at_1, ko / en |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    for report, (lexical, text) in zip(reports, choices, strict=True):
        print(_row(report, lexical, text))
    return 0


def _choices(folder: Path) -> tuple[str, str]:
    """The names of both channels' choices, as Hydra recorded them."""
    overrides = (folder / ".hydra" / "overrides.yaml").read_text(encoding="utf-8").split()
    chosen = dict(override.split("=", 1) for override in overrides if "=" in override)
    return chosen["encoder@lexical"], chosen["encoder@text"]


def _row(report: dict[str, Any], lexical: str, text: str) -> str:
    values = [f"{report['metrics'][name]:.{1 if name.endswith('rank') else 3}f}" for name in COLUMNS]
    slices = report["slices"]["language"]
    languages = " / ".join(f"{slices[language]['hit_rate_at_1']:.2f}" for language in ("ko", "en"))
    return f"| {lexical} | {text} | {' | '.join(values)} | {languages} |"


if __name__ == "__main__":
    sys.exit(main())
