"""The cells of a sweep, found and composed by Hydra's own means, and their plan; nothing is launched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hydra import initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict
from omegaconf.errors import OmegaConfBaseException

from glyphrank.composition import config_folder, register_resolvers, shortened
from glyphrank.config import build_parts, texts_of
from glyphrank.errors import ConfigError
from glyphrank.plan import BuiltCell, plan_cells
from glyphrank.redaction import redact_override, redact_text
from glyphrank.report.planned import Plan
from glyphrank.run import Run

_LAUNCHER = ("hydra/launcher", "hydra.launcher")


def plan_here(overrides: Sequence[str], config_dir: Path | None = None, why: bool = False) -> Plan:
    """The plan of what `glyphrank run -m` would do with these overrides.

    Which launcher would start the cells does not matter, nor whether it is installed.

    Args:
        overrides: as on the command line of `run -m`.
        config_dir: a folder of further choices, as `--config-dir`.
        why: see `plan_cells`.

    Raises:
        ConfigError: the sweep cannot be composed. A single cell that cannot be is told in the plan.
    """
    if config_dir is not None and not config_dir.is_dir():
        raise ConfigError(f"--config-dir {config_dir}: no such folder")
    asked = ["hydra.mode=MULTIRUN", *(text for text in overrides if not _is_of_launcher(text))]
    register_resolvers()
    with _composing(), initialize_config_dir(str(config_folder()), version_base="1.3", job_name="glyphrank"):
        _add_folder(config_dir)
        return _plan(_master(_loader(), asked), why)


def plan_of_sweep(config: DictConfig, why: bool = False) -> Plan:
    """The plan of a sweep that Hydra is about to start.

    Args:
        config: the sweep's, as Hydra's callbacks get it; it is not changed, resolved or frozen.

    Raises:
        ConfigError: Hydra will refuse the sweep; DataError: the cache cannot be read.
    """
    with _composing():
        return _plan(config, why)


@dataclass(frozen=True)
class _Sweep:
    """Cells by their overrides, as they are typed, and what is to be said of them."""

    cells: Sequence[Sequence[str]]
    notes: tuple[str, ...]


def _plan(config: DictConfig, why: bool) -> Plan:
    loader = _loader()
    sweep = _cells(loader, config)
    built = [_built(loader, config, number, overrides) for number, overrides in enumerate(sweep.cells)]
    swept = [cell for cell, _ in built]
    apart = _not_swept(config, [params for _, params in built])
    return plan_cells(swept, [*sweep.notes, *apart], why)


@contextmanager
def _composing() -> Iterator[None]:
    """Lets Hydra's current job be what it was before, and turns Hydra's errors into ours."""
    current = HydraConfig.instance()
    before = current.cfg
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(redact_text(shortened(error))) from error
    finally:
        current.cfg = before


def _add_folder(config_dir: Path | None) -> None:
    """Puts a folder where `--config-dir` does, so that globs over choices see it too."""
    if config_dir is not None:
        path = create_config_search_path(str(config_folder()))
        path.prepend("command-line", f"file://{config_dir.resolve()}", "schema")
        GlobalHydra.instance().clear()
        Hydra.create_main_hydra2("glyphrank", path)


def _loader() -> ConfigLoader:
    return GlobalHydra.instance().config_loader()


def _is_of_launcher(override: str) -> bool:
    """Whether it says how cells are launched; the preset that it names may not be installed here."""
    name = override.partition("=")[0].lstrip("+~")
    return name == _LAUNCHER[0] or name == _LAUNCHER[1] or name.startswith(f"{_LAUNCHER[1]}.")


def _master(loader: ConfigLoader, overrides: list[str]) -> DictConfig:
    """The config of the sweep as a whole; a launcher that an experiment names and that is not here is left out."""
    try:
        return loader.load_configuration("config", overrides, run_mode=RunMode.MULTIRUN)
    except (HydraException, OmegaConfBaseException) as error:
        if _LAUNCHER[0] not in str(error):
            raise
        return loader.load_configuration("config", [*overrides, "hydra/launcher=basic"], run_mode=RunMode.MULTIRUN)


def _cells(loader: ConfigLoader, config: DictConfig) -> _Sweep:
    """The cells as Hydra's own sweeper makes them; for another, one cell of all that is not swept."""
    params = config.hydra.sweeper.get("params") or {}
    asked = [f"{name}={value}" for name, value in params.items()] + texts_of(config.hydra.overrides.task)
    overrides = OverridesParser.create(config_loader=loader).parse_overrides(asked)
    sweeper = str(config.hydra.sweeper.get("_target_"))
    if sweeper.endswith(f".{BasicSweeper.__name__}"):
        batches = BasicSweeper.split_arguments(overrides, config.hydra.sweeper.get("max_batch_size"))
        return _Sweep([cell for batch in batches for cell in batch], ())
    return _chosen_later(sweeper.rpartition(".")[2], config, overrides)


def _chosen_later(sweeper: str, config: DictConfig, overrides: Sequence[Override]) -> _Sweep:
    latest = {override.get_key_element(): override for override in overrides if override.is_sweep_override()}
    given = {override.get_key_element(): override for override in overrides if not override.is_sweep_override()}
    swept = [override for name, override in latest.items() if name not in given]  # as the sweeper does, in any order
    fixed = [str(override.input_line) for override in given.values()]
    trials = config.hydra.sweeper.get("n_trials")
    count = "cells" if trials is None else f"{trials} cells"
    names = ", ".join(redact_override(str(override.input_line)) for override in swept) or "what it sweeps"
    note = (
        f"{sweeper} chooses its {count} as it goes; planned is one, in which what it chooses has the value that the "
        f"config has without it ({names})"
    )
    return _Sweep([fixed], (note,))


def _built(
    loader: ConfigLoader, config: DictConfig, number: int, overrides: Sequence[str]
) -> tuple[BuiltCell, list[str]]:
    """One cell, composed as a launcher composes it, and the fields that its own config would sweep."""
    shown = tuple(map(redact_override, overrides))
    try:
        own = loader.load_sweep_config(config, list(overrides))
        params = [str(name) for name in own.hydra.sweeper.get("params") or ()]
        with open_dict(own):
            own.hydra.runtime.output_dir = own.hydra.runtime.cwd
            own.hydra.job.num = number
            own.hydra.job.id = str(number)
            HydraConfig.instance().set_config(own)
            del own["hydra"]
        return BuiltCell(number, shown, build_parts(Run, own)), params
    except ConfigError as error:
        return BuiltCell(number, shown, None, redact_text(str(error))), []
    except (HydraException, OmegaConfBaseException) as error:
        return BuiltCell(number, shown, None, redact_text(shortened(error))), []


def _not_swept(config: DictConfig, params: Sequence[Sequence[str]]) -> list[str]:
    """What Hydra passes over without a word: sweeps in experiments that are themselves swept."""
    if config.hydra.sweeper.get("params") or not any(params):
        return []
    names = list(dict.fromkeys(name for found in params for name in found))
    return [
        f"several experiments are swept, and then Hydra does not sweep what they hold ({', '.join(names)}); "
        "give it on the command line, or start one experiment at a time"
    ]
