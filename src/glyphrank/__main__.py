"""The command line: `glyphrank run` (Hydra's grammar) and `glyphrank score`."""

from __future__ import annotations

import logging
import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank import __version__
from glyphrank.errors import ConfigError, DataError

if TYPE_CHECKING:
    from glyphrank.config import Job

logger = logging.getLogger("glyphrank")

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

    from glyphrank.redaction import redact_text

    _prepare(arguments)
    try:
        hydra.main(version_base="1.3", config_path=str(config_folder()), config_name="config")(job)()
    except (ConfigError, DataError) as error:
        return _say(redact_text(str(error)))
    except (HydraException, OmegaConfBaseException) as error:
        return _say(_shortened(error))
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    return 0


def job(config: object) -> float:
    """One cell: builds it, runs it inside its tracked run, prints its table; returns the primary metric."""
    from omegaconf import DictConfig

    from glyphrank.config import build
    from glyphrank.redaction import redact_folder, redact_text

    if not isinstance(config, DictConfig):
        raise ConfigError(f"found a config of type {type(config).__name__}, wanted a mapping")
    cell = build(config)
    redact_folder(cell.folder)
    try:
        return perform(cell)
    except (ConfigError, DataError) as error:
        if cell.sweep:
            logger.error("failed: %s\n%s", " ".join(cell.start.overrides), redact_text(str(error)))
        raise


def perform(cell: Job) -> float:
    """Runs a cell and hands its result on: to its own folder, to the tracker, to the terminal."""
    from glyphrank.pipeline import execute
    from glyphrank.report import results
    from glyphrank.report.table import show
    from glyphrank.tracking.untracked import Untracked

    tracker = cell.run.tracking or Untracked()
    with tracker.start(cell.start, cell.run.runtime) as tracked:
        report, reused = execute(cell.run, cell.start.config)
        report = replace(report, config=cell.start.config)  # a stored result may come from a run with other paths
        store = cell.run.runtime.outputs / "results"
        results.deliver(store, report, cell.folder)
        tracked.log(report, cell.folder, reused)
        if tracked.run_id:
            results.remember_run(store, report.identity, {"run_id": tracked.run_id, "folder": str(cell.folder)})
    show(report, reused, sys.stdout)
    print(f"files: {cell.folder}")
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

    sys.argv = ["glyphrank run", *arguments]
    launch = secrets.token_hex(3)
    OmegaConf.register_new_resolver("launch", lambda: launch, use_cache=True, replace=True)
    os.environ["HYDRA_FULL_ERROR"] = "1"


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
