"""What the commands about one finished run share: how the run is named, and how faults are told."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from glyphrank.errors import ConfigError, DataError
from glyphrank.redaction import redact_text

_INTERRUPTED = 130


def parser_of(command: str, description: str, example: str) -> argparse.ArgumentParser:
    """RUN, overrides, and where both are looked for; read it with `parse_intermixed_args`.

    Args:
        example: overrides, for the help.
    """
    parser = argparse.ArgumentParser(prog=f"glyphrank {command}", description=description)
    parser.add_argument(
        "run",
        metavar="RUN",
        help="a run's folder, an id of MLflow or its beginning, or the beginning of an identity in OUTPUTS/results",
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        default=[],  # else argparse tells that it is required
        metavar="KEY=VALUE",
        help=f"other places and other ways of working: {example}, ...",
    )
    parser.add_argument(
        "--store", metavar="URI", help="MLflow's store; default: of --outputs, else MLFLOW_TRACKING_URI"
    )
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="default: GLYPHRANK_OUTPUTS, else outputs")
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="where plug-ins lie, as for `glyphrank run`")
    return parser


def carried_out(work: Callable[[], int]) -> int:
    """The exit code that `work` returns; 2 where it cannot be carried out, which is told, and 130 after Ctrl-C.

    Raises:
        Killed: a signal came.
    """
    from glyphrank.tracking.interruptions import Killed

    try:
        return work()
    except (ConfigError, DataError) as error:
        return _say(str(error), 2)
    except OSError as error:
        return _say(f"{error.filename or 'a file or stream'}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except SystemExit as leave:
        if isinstance(leave, Killed):
            raise
        return _say(f"a component ended the program (SystemExit: {leave})", 2)
    except Exception:  # a component of a plug-in may raise anything
        return _say(traceback.format_exc().rstrip(), 2)


def _say(message: str, code: int) -> int:
    sys.stderr.write(f"glyphrank: {redact_text(message)}\n")
    return code
