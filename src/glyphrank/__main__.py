"""The command line: `glyphrank run` (Hydra's grammar) and `glyphrank score`."""

from __future__ import annotations

import logging
import math
import os
import secrets
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank import __version__
from glyphrank.errors import ConfigError, DataError

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from glyphrank.run import Run
    from glyphrank.tracking.start import Start

logger = logging.getLogger("glyphrank")

_failures: list[str] = []
_launcher = 0

USAGE = """usage: glyphrank COMMAND ...

  run    [overrides]              one experiment; -m sweeps, --help lists the choices
  score  --run FILE --qrels FILE  metrics of a ranking made elsewhere; --help tells more

glyphrank COMMAND --help explains a command; glyphrank --version tells the version.
"""


def main() -> int:
    """Runs the command named by the first argument and returns the exit code: 2 for what the caller can mend."""
    match sys.argv[1:]:
        case ["run", *rest]:
            return run(rest)
        case ["score", *rest]:
            from glyphrank.score import run_score

            return run_score(rest)
        case ["--version"]:
            print(f"glyphrank {__version__}")
            return 0
        case ["--help" | "-h"]:
            print(USAGE, end="")
            return 0
    print(USAGE, end="", file=sys.stderr)
    return 2


def run(arguments: list[str]) -> int:
    """`glyphrank run`: Hydra composes, the pipeline runs; returns the exit code."""
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    _prepare(arguments)
    try:
        hydra.main(version_base="1.3", config_path=str(config_folder()), config_name="config")(job)()
    except (ConfigError, DataError) as error:  # from a worker process of a launcher
        return _say(_redacted(error))
    except (HydraException, OmegaConfBaseException) as error:
        return _say(_shortened(error))
    except ValueError as error:
        if not _raised_by_hydra(error):
            raise
        return _say(str(error))
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    return _end(sweep=bool({"-m", "--multirun"} & set(arguments)))


def job(config: DictConfig) -> float:
    """One cell: builds it, runs it inside its tracked run, prints its table; returns the primary metric.

    A fault that a person can mend is kept for the end when Hydra runs the cell in the launching process, and the cell
    returns NaN; in a worker process it is raised, since the launcher must learn of it.
    """
    from glyphrank.config import build, current_cell
    from glyphrank.redaction import redact_folder

    cell = current_cell()
    redact_folder(cell.folder)
    try:
        return perform(*build(config), cell.folder)
    except (ConfigError, DataError) as error:
        if os.getpid() != _launcher:
            raise
        _failures.append(_redacted(error))
        if cell.sweep:
            logger.error("failed: %s\n%s", " ".join(cell.overrides), _failures[-1])
        return math.nan


def perform(run: Run, start: Start, folder: Path) -> float:
    """Runs an experiment and hands its result on: to its own folder, to the tracker, to the terminal."""
    from glyphrank.pipeline import execute
    from glyphrank.report import results
    from glyphrank.report.table import show
    from glyphrank.tracking.untracked import Untracked

    store = run.runtime.outputs / "results"
    with (run.tracking or Untracked()).start(start, run.runtime) as tracked:
        report, reused = execute(run, start.config)
        report = replace(report, config=start.config)  # a stored result may come from a run with other paths
        results.deliver(store, report, folder)
        tracked.log(report, folder, reused)
        if tracked.reference:
            results.remember_run(store, report.identity, tracked.reference)
    show(report, reused, sys.stdout)
    print(f"files: {folder}")
    if tracked.dashboard:
        print(f"dashboard: {tracked.dashboard}")
    return report.metrics[report.primary]


def config_folder() -> Path:
    """The folder of choices: inside the package when installed from a wheel, else `conf/` of the checkout."""
    package = Path(__file__).parent
    installed = package / "conf"
    return installed if installed.is_dir() else package.parents[1] / "conf"


def _prepare(arguments: list[str]) -> None:
    """What Hydra reads from its surroundings: arguments, the resolver for folder names, errors that reach us."""
    from omegaconf import OmegaConf

    global _launcher
    _launcher = os.getpid()
    _failures.clear()
    sys.argv = ["glyphrank run", *arguments]
    launch = secrets.token_hex(3)
    OmegaConf.register_new_resolver("launch", lambda: launch, use_cache=True, replace=True)
    os.environ["HYDRA_FULL_ERROR"] = "1"


def _end(sweep: bool) -> int:
    """The exit code, once every failure of a single run or the number of a sweep's is told."""
    if not _failures:
        return 0
    if not sweep:
        return _say(_failures[0])
    _say(f"{len(_failures)} of the sweep's cells failed; each is shown above with its overrides")
    return 1


def _raised_by_hydra(error: Exception) -> bool:
    """Whether Hydra itself raised it, e.g. for flags that do not go together."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__")).startswith("hydra.")


def _redacted(error: Exception) -> str:
    from glyphrank.redaction import redact_text

    return redact_text(str(error))


def _shortened(error: Exception) -> str:
    """Hydra's own message without its traceback, with a hint where a text needs quotes."""
    from hydra.errors import OverrideParseException

    causes = [str(error)] + ([str(error.__cause__)] if error.__cause__ else [])
    message = "\n".join(line for cause in causes for line in cause.splitlines() if line.strip())
    if isinstance(error, OverrideParseException) and not message.isascii():
        message += "\nText with Hangul, spaces or brackets needs inner quotes: 'key=\"한국어\"'"
    return message


def _say(message: str) -> int:
    print(f"glyphrank: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
