"""Composing the config: where the choices lie, what they may call, and for commands that are no job of Hydra's."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.errors import HydraException, OverrideParseException
from omegaconf import OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from glyphrank.config import Parts, build_parts
from glyphrank.errors import ConfigError
from glyphrank.redaction import redact
from glyphrank.ties import is_rank

LAUNCH = "GLYPHRANK_LAUNCH"
"""Variable that names the launch to a process that was started again for it, and to no other."""
_LAUNCH = os.environ.pop(LAUNCH, "") or secrets.token_hex(3)
_SEED = 7


def build_here(kind: type[Parts], overrides: Sequence[str], config_dir: Path | None = None) -> Parts:
    """Parts of the run that overrides describe, for a command that is no job of Hydra's: it makes no folder.

    Args:
        kind: a dataclass whose fields are root keys of the config.
        overrides: as on the command line of `glyphrank run`, one experiment.
        config_dir: a folder of further choices, as `--config-dir`.

    Raises:
        ConfigError: the config cannot be composed or built; every fault is named.
    """
    path = [f"hydra.searchpath=[{json.dumps(str(config_dir.resolve()), ensure_ascii=False)}]"] if config_dir else []
    register_resolvers()
    if config_dir is not None and not config_dir.is_dir():
        raise ConfigError(f"--config-dir {config_dir}: no such folder")
    try:
        with initialize_config_dir(str(config_folder()), version_base="1.3", job_name="glyphrank"):
            config = compose("config", [*overrides, *path], return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(shortened(error)) from error
    with open_dict(config):
        config.hydra.runtime.cwd = str(Path.cwd())
        config.hydra.runtime.output_dir = str(Path.cwd())
        config.hydra.job.num = 0
        HydraConfig.instance().set_config(config)
        del config["hydra"]
    return build_parts(kind, config)


def plain_here(overrides: Sequence[str], leave_out: Collection[str] = ()) -> dict[str, Any]:
    """The root nodes of the config that overrides describe, in plain values, secrets removed; nothing is built.

    Args:
        overrides: as for `build_here`.
        leave_out: nodes that are not wanted, and so may name what is not here.

    Raises:
        ConfigError: the config cannot be composed, or refers to what there is not.
    """
    register_resolvers()
    try:
        with initialize_config_dir(str(config_folder()), version_base="1.3", job_name="glyphrank"):
            config = compose("config", list(overrides))
        nodes = {str(name): config[name] for name in config if name not in leave_out}
        plain = {name: _plain(node) for name, node in nodes.items()}
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(shortened(error)) from error
    return dict(redact(plain))


def _plain(node: Any) -> Any:
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def config_folder() -> Path:
    """The folder of choices: inside the package when installed from a wheel, else `conf/` of the checkout."""
    package = Path(__file__).parent
    installed = package / "conf"
    return installed if installed.is_dir() else package.parents[1] / "conf"


def register_resolvers(launch: str = _LAUNCH) -> None:
    """What `conf/` may use: `${launch:}`, a name for this launch, and `${place:PATH}`, a folder as it is meant."""
    OmegaConf.register_new_resolver("launch", lambda: launch, use_cache=True, replace=True)
    OmegaConf.register_new_resolver("place", _place, replace=True)
    OmegaConf.register_new_resolver("direction", _direction, replace=True)
    _prefer_primary()


def _direction(metric: str) -> str:
    """`${direction:METRIC}`: which end of a metric a sweeper looks for, `minimize` for ranks, else `maximize`."""
    return "minimize" if is_rank(metric) else "maximize"


def _prefer_primary() -> None:
    """Lets Optuna's plug-in, where it is installed, look for the best primary metric, with a seed.

    A file `conf/hydra/sweeper/optuna.yaml` cannot: Hydra refuses one that shares its name with a node that a plug-in
    stores. So the node itself is stored again with other values; a plug-in that is not installed has none.
    """
    Plugins.instance()  # stores the nodes of all plug-ins, once, and would later undo what is done here
    try:
        from hydra_plugins.hydra_optuna_sweeper.config import OptunaSweeperConf, TPESamplerConfig
    except ImportError:
        return
    # One cell after the other, since those of a batch learn nothing of each other; none that fails stops the others.
    best = OptunaSweeperConf(direction="${direction:${metrics.primary}}", n_jobs=1, max_failure_rate=1.0)
    store = ConfigStore.instance()
    store.store("optuna", best, group="hydra/sweeper", provider="glyphrank")
    store.store("tpe", TPESamplerConfig(seed=_SEED), group="hydra/sweeper/sampler", provider="glyphrank")


def _place(path: object) -> str:
    """A path with `~` expanded; an empty one is refused, since it would mean the root of what is put below it."""
    if not isinstance(path, str) or not path.strip():
        raise ValueError(f"found {path!r}, wanted a folder; check paths.outputs, GLYPHRANK_OUTPUTS and paths.cache")
    return str(Path(path).expanduser())


def shortened(error: Exception) -> str:
    """Hydra's own message without its traceback, with a hint where a text needs quotes."""
    causes = [str(error)] + ([str(error.__cause__)] if error.__cause__ else [])
    lines = [line for cause in causes for line in cause.splitlines() if line.strip()]
    internal = ("full_key:", "object_type=", "reference_type=")
    message = "\n".join(line for line in lines if not line.strip().startswith(internal))
    if isinstance(error, OverrideParseException):
        message += "\nText with Hangul, spaces or brackets needs inner quotes: 'key=\"한국어\"'"
    return message
