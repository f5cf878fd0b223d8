"""`glyphrank plan`: what a run or sweep would do, without doing it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from glyphrank.errors import ConfigError, DataError
from glyphrank.written_out import write_out


def run_plan(argv: Sequence[str]) -> int:
    """The command: prints a plan and returns the exit code.

    0: it is printed, and every cell can be run; 2: a cell cannot be, or the sweep cannot be composed.
    """
    from glyphrank.planned_cells import plan_here
    from glyphrank.report.plan_table import as_json, as_text

    try:
        options = _parser().parse_intermixed_args(argv)
        plan = plan_here(options.overrides, options.config_dir, options.why)
    except SystemExit as leave:
        return int(leave.code or 0)
    except (ConfigError, DataError) as error:
        sys.stderr.write(f"glyphrank: {error}\n")
        return 2
    write_out(json.dumps(as_json(plan), ensure_ascii=False, indent=2) if options.json else as_text(plan))
    return 2 if plan.is_faulty else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank plan",
        description="What `glyphrank run -m` would do with the same overrides: its cells, the distinct stages behind "
        "them, what is cached, what is still to be done and about how long it takes. Starts nothing and fetches "
        "nothing. Exit code 2 where a cell cannot be run.",
    )
    parser.add_argument("overrides", nargs="*", help="as for `glyphrank run -m`: experiment=quickstart lexical.k1=1,2")
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="may be given, since `run` knows it; no difference"
    )
    parser.add_argument("-cd", "--config-dir", type=Path, metavar="DIR", help="folder of choices of your own")
    parser.add_argument(
        "--why", action="store_true", help="say of stages with work which fields the nearest key has otherwise"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with whole keys and all overrides")
    return parser
