"""The README's tables: runs `glyphrank quickstart` in a folder of its own and prints its results as Markdown.

python benchmarks/quickstart_table.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PAGES = ("hit_rate_at_1", "hit_rate_at_5", "recall_at_10", "ndcg_at_10", "mean_rank")
CLIPS = ("hit_rate_at_1", "ndcg_at_10", "mean_rank")
FIELDS = ("visual", "transcript.min_confidence", "index")


def main() -> int:
    """Runs and prints."""
    with tempfile.TemporaryDirectory() as name:
        began, command = time.monotonic(), [sys.executable, "-m", "glyphrank", "quickstart"]
        environment = {**os.environ, "GLYPHRANK_OUTPUTS": name}
        said = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
        seconds, sweeps = time.monotonic() - began, Path(name) / "sweeps"
        print(f"{seconds:.0f} s\n")
        print("\n".join(_clips(json.loads((sweeps / "quickstart_clips" / "comparison.json").read_text("utf-8")))))
        print(f"\n{next(line for line in said.splitlines() if line.startswith('Seeing'))}\n")
        print("\n".join(_pages(sorted((sweeps / "quickstart").glob("*/report.json")))))
    return 0


def _clips(comparison: dict[str, Any]) -> list[str]:
    """A line for each run, the best first, `*` where it is not told from the best."""
    lines = [f"| | {' | '.join(FIELDS)} | {' | '.join(CLIPS)} | p |", "|---" * (len(FIELDS) + len(CLIPS) + 2) + "|"]
    for row in comparison["runs"]:
        values = [_value(row, name) for name in CLIPS]
        chance = "" if row["p_adjusted"] is None else f"{row['p_adjusted']:.4f}"
        own = " | ".join(row["fields"][name] for name in FIELDS)
        lines.append(f"| {'*' if row['group'] else ''} | {own} | {' | '.join(values)} | {chance} |")
    return lines


def _value(row: dict[str, Any], name: str) -> str:
    digits = 1 if name.endswith("rank") else 3
    low, high = row["intervals"][name]
    return f"{row['values'][name]:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _pages(files: list[Path]) -> list[str]:
    """A line for each run, in the order of the sweep."""
    lines = [f"| lexical | text | {' | '.join(PAGES)} | hit_rate_at_1, ko / en |", "|---" * (len(PAGES) + 3) + "|"]
    for path in files:
        report = json.loads(path.read_text(encoding="utf-8"))
        values = [f"{report['metrics'][name]:.{1 if name.endswith('rank') else 3}f}" for name in PAGES]
        slices = report["slices"]["language"]
        languages = " / ".join(f"{slices[language]['hit_rate_at_1']:.2f}" for language in ("ko", "en"))
        lexical, text = _choices(path.parent)
        lines.append(f"| {lexical} | {text} | {' | '.join(values)} | {languages} |")
    return lines


def _choices(folder: Path) -> tuple[str, str]:
    """The names of both channels' choices, as Hydra recorded them."""
    overrides = (folder / ".hydra" / "overrides.yaml").read_text(encoding="utf-8").split()
    chosen = dict(override.split("=", 1) for override in overrides if "=" in override)
    return chosen["encoder@lexical"], chosen["encoder@text"]


if __name__ == "__main__":
    sys.exit(main())
