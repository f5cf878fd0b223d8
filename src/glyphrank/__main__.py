"""The command line: `glyphrank run` (Hydra's grammar), `check`, `score` and `compare`."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from contextlib import redirect_stderr
from itertools import islice

from glyphrank import __version__

USAGE = """usage: glyphrank COMMAND ...

  quickstart                        two small sweeps on generated samples, and what they show
  run      [overrides]              one experiment; -m sweeps, --help lists the choices
  check    dataset=... [overrides]  what is odd about a dataset, and the best that any ranker can reach on it
  score    --run FILE --qrels FILE  metrics of a ranking made elsewhere, or of a matrix of scores (--matrix)
  plan     [overrides]              what a run or sweep would do: cells, distinct stages, what is cached; starts nothing
  compare  [RUN ...]                finished runs side by side: intervals, paired tests, who is not told from the best
  sync                              sends to MLflow what could not be sent, and closes runs of dead processes
  reproduce RUN                     runs a finished run again and tells whether its numbers come out the same
  report   RUN                      a page of a finished run: its numbers, and the queries that it missed with pictures
  cache    [list | prune]           what the cache holds, by component, size and last use
  new      DATASET FOLDER           a dataset out of a folder of your own PDFs, pictures and clips

glyphrank COMMAND --help explains a command; glyphrank --version tells the version.
"""

_WITH_VALUE = (
    *("-c", "--cfg", "-p", "--package", "-cp", "--config-path", "-cn", "--config-name", "-cd", "--config-dir"),
    "--experimental-rerun",
)
"""Options of Hydra's that a value follows."""


def main() -> int:
    """Runs the command named by the first argument and returns the exit code: 2 for what the caller can mend."""
    match sys.argv[1:]:
        case ["run", *rest]:
            return run(rest)
        case ["score", *rest]:
            from glyphrank.score_command import run_score

            return run_score(rest)
        case ["compare", *rest]:
            from glyphrank.compare_command import run_compare

            return run_compare(rest)
        case ["check", *rest]:
            from glyphrank.check import run_check

            return run_check(rest)
        case ["plan", *rest]:
            from glyphrank.plan_command import run_plan

            return run_plan(rest)
        case ["sync", *rest]:
            from glyphrank.sync_command import run_sync

            return run_sync(rest)
        case ["reproduce", *rest]:
            from glyphrank.reproduce_command import run_reproduce

            return run_reproduce(rest)
        case ["report", *rest]:
            from glyphrank.report_command import run_report

            return run_report(rest)
        case ["cache", *rest]:
            from glyphrank.cache_command import run_cache

            return run_cache(rest)
        case ["new", *rest]:
            from glyphrank.new_command import run_new

            return run_new(rest)
        case ["quickstart", *rest]:
            from glyphrank.quickstart_command import run_quickstart

            return run_quickstart(rest)
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
    from glyphrank.redaction import RedactingStream
    from glyphrank.snapshot import Restart

    _prepare(arguments)
    with redirect_stderr(RedactingStream(sys.stderr)):  # Hydra tells failed overrides as they were typed
        try:
            return _run()
        except KeyboardInterrupt:
            _say("interrupted")
            return 130
        except Restart as again:
            again.go()


def _run() -> int:
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from glyphrank.composition import config_folder, shortened
    from glyphrank.extras import missing_extra
    from glyphrank.job import RunFailedError, job
    from glyphrank.sweep import RefusedError, concluding

    sweep = None
    try:
        with concluding() as sweep:
            hydra.main(version_base="1.3", config_path=str(config_folder()), config_name="config")(job)()
    except RunFailedError as error:  # which has been shown
        return int(error.code or 1)
    except RefusedError as error:
        return _say(str(error))
    except (HydraException, OmegaConfBaseException) as error:
        _say(missing_extra(error) or shortened(error))
        return 1 if sweep and sweep.has_cells else 2
    except Exception as error:
        if sweep and (sweep.has_cells or sweep.died):  # of a launcher, or a sweeper that found no result at all
            _say(f"the sweep ended before its time: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")
            return 1
        if extra := missing_extra(error):
            return _say(extra)
        if isinstance(error, ValueError | OSError) and _raised_by_hydra(error):
            return _say(f"{error}{_where() if isinstance(error, OSError) else ''}")
        traceback.print_exc()
        return 1
    return 1 if sweep.lacking else 0


def _prepare(arguments: list[str]) -> None:
    """What Hydra reads from its surroundings: arguments, the resolver for folder names, errors that reach us."""
    from glyphrank.composition import register_resolvers

    register_resolvers()
    sys.argv = ["glyphrank run", *_options_first(arguments)]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    gc.set_threshold(20_000, 20, 20)  # imports and compositions make millions of objects that stay


def _options_first(arguments: list[str]) -> list[str]:
    """Hydra takes no option between or behind overrides; `--info` may have a value, and so nothing is moved there."""
    if any(argument.startswith(("--i", "-i")) for argument in arguments):
        return arguments
    options, overrides, rest = [], [], iter(arguments)
    for argument in rest:
        if argument.startswith("-"):
            has_value = any(name.startswith(argument) for name in _WITH_VALUE)  # Hydra takes shortened ones
            options += [argument, *(islice(rest, 1) if has_value else ())]
        else:
            overrides.append(argument)
    return [*options, *overrides]


def _where() -> str:
    """What to look at where a folder cannot be made: that which a person named, or that of all outputs."""
    named = [name for name in ("hydra.sweep.dir", "hydra.run.dir") for text in sys.argv if text.startswith(f"{name}=")]
    return f"; check {' and '.join(named or ['paths.outputs'])}"


def _raised_by_hydra(error: Exception) -> bool:
    """Whether it came up in Hydra's own work: flags that do not go together, a folder that it may not make."""
    frames = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "glyphrank.job" not in frames


def _say(message: str) -> int:
    print(f"glyphrank: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
