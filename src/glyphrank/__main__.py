"""The command line: `glyphrank run` (Hydra's grammar) and `glyphrank score`."""

from __future__ import annotations

import os
import secrets
import sys
import traceback
from contextlib import redirect_stderr
from pathlib import Path

from glyphrank import __version__
from glyphrank.errors import ConfigError, DataError

_LAUNCH = secrets.token_hex(3)

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

    from glyphrank.job import begin, exit_code, job
    from glyphrank.redaction import RedactingStream

    _prepare(arguments)
    begin()
    with redirect_stderr(RedactingStream(sys.stderr)):  # Hydra tells failed overrides as they were typed
        try:
            hydra.main(version_base="1.3", config_path=str(config_folder()), config_name="config")(job)()
        except (ConfigError, DataError) as error:  # of a sweep's cell, from a worker process of a launcher
            _say(f"at least one of the sweep's cells failed; each is shown above\n{error}")
            return 1
        except (HydraException, OmegaConfBaseException) as error:
            return _say(_shortened(error))
        except KeyboardInterrupt:
            _say("interrupted")
            return 130
        except Exception as error:
            if isinstance(error, ValueError | OSError) and _raised_by_hydra(error):
                where = "; check paths.outputs" if isinstance(error, OSError) else ""
                return _say(f"{error}{where}")
            traceback.print_exc()
            return 1
    return exit_code()


def config_folder() -> Path:
    """The folder of choices: inside the package when installed from a wheel, else `conf/` of the checkout."""
    package = Path(__file__).parent
    installed = package / "conf"
    return installed if installed.is_dir() else package.parents[1] / "conf"


def _prepare(arguments: list[str]) -> None:
    """What Hydra reads from its surroundings: arguments, the resolver for folder names, errors that reach us."""
    register_resolvers()
    sys.argv = ["glyphrank run", *arguments]
    os.environ["HYDRA_FULL_ERROR"] = "1"


def register_resolvers() -> None:
    """What `conf/` may use: `${launch:}`, a name for this launch, and `${place:PATH}`, a folder as it is meant."""
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver("launch", lambda: _LAUNCH, use_cache=True, replace=True)
    OmegaConf.register_new_resolver("place", _place, replace=True)


def _place(path: object) -> str:
    """A path with `~` expanded; an empty one is refused, since it would mean the root of what is put below it."""
    if not isinstance(path, str) or not path.strip():
        raise ValueError(f"found {path!r}, wanted a folder; check paths.outputs, GLYPHRANK_OUTPUTS and paths.cache")
    return str(Path(path).expanduser())


def _raised_by_hydra(error: Exception) -> bool:
    """Whether it came up in Hydra's own work: flags that do not go together, a folder that it may not make."""
    frames = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "glyphrank.job" not in frames


def _shortened(error: Exception) -> str:
    """Hydra's own message without its traceback, with a hint where a text needs quotes."""
    from hydra.errors import OverrideParseException

    causes = [str(error)] + ([str(error.__cause__)] if error.__cause__ else [])
    lines = [line for cause in causes for line in cause.splitlines() if line.strip()]
    message = "\n".join(line for line in lines if not line.strip().startswith(("full_key:", "object_type=")))
    if isinstance(error, OverrideParseException):
        message += "\nText with Hangul, spaces or brackets needs inner quotes: 'key=\"한국어\"'"
    return message


def _say(message: str) -> int:
    print(f"glyphrank: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
