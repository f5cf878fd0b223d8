"""What of the config that Hydra composed for a sweep makes it what it is, and what its parent run needs of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf, open_dict

from glyphrank.config import build_parts, reach_plugins, texts_of
from glyphrank.launched import Sources, found_package
from glyphrank.origins import telling
from glyphrank.redaction import redact, redact_override
from glyphrank.report.claims import Asked
from glyphrank.run import CHANGES_NO_NUMBER
from glyphrank.runtime import Runtime
from glyphrank.tracking import Tracker
from glyphrank.tracking.start import Start


def asked_of(config: DictConfig) -> Asked:
    """What makes the sweep that very one: another batch size, device or store goes on with it.

    Raises:
        HydraException: of an override that cannot be read.
    """
    plain = OmegaConf.to_container(config, resolve=False)
    nodes = dict(plain) if isinstance(plain, dict) else {}
    hydra = nodes.pop("hydra", {})
    sweeper = {name: hydra["sweeper"].get(name) for name in ("_target_", "params")}
    counting = {str(name): node for name, node in nodes.items() if name not in CHANGES_NO_NUMBER}
    shape = {"sweeper": sweeper, "subdir": hydra["sweep"].get("subdir")}
    overrides = [
        override
        for override in _parsed(texts_of(config.hydra.overrides.task))
        if override.key_or_group.partition(".")[0] not in CHANGES_NO_NUMBER or override.is_sweep_override()
    ]
    given, swept = (
        tuple(redact_override(str(override.input_line)) for override in some)
        for some in (overrides, [override for override in overrides if override.is_sweep_override()])
    )
    return Asked(given, dict(redact({**counting, "hydra": shape})), swept)


def sources_of(config: DictConfig) -> Sources:
    """The folders of choices, and those of glyphrank and of the plug-ins, which become importable."""
    found = [(entry.provider, Path(entry.path)) for entry in config.hydra.runtime.config_sources if _is_file(entry)]
    conf = next(path for provider, path in found if provider == "main")
    plugins = OmegaConf.select(config, "plugins") or []
    if plugins:
        reach_plugins(config.hydra)
    return Sources(
        conf=conf,
        overlays=tuple(path for provider, path in found if provider != "main"),
        groups=tuple(sorted(path.name for path in conf.iterdir() if path.is_dir() and path.name[0] != ".")),
        config_name=config.hydra.job.config_name,
        packages={str(name): found_package(str(name)) for name in ("glyphrank", *plugins)},
    )


def searched(config: DictConfig) -> list[str]:
    """The entries of Hydra's search path that a person gave with `hydra.searchpath`, as URLs."""
    return [
        f"{entry.schema}://{entry.path}"
        for entry in config.hydra.runtime.config_sources
        if entry.provider.startswith("hydra.searchpath")
    ]


def number_of_cells(config: DictConfig) -> int | None:
    """How many cells Hydra's own sweeper makes of the overrides; None with another, which decides as it goes.

    Raises:
        HydraException: of an override that cannot be read, or that this sweeper does not know.
    """
    if not str(config.hydra.sweeper.get("_target_")).endswith(".BasicSweeper"):
        return None
    return sum(map(len, BasicSweeper.split_arguments(_given(config), None)))


@dataclass(frozen=True)
class SharedParts:
    """Of the config that all cells share, what the parent run needs."""

    tracking: Tracker | None
    runtime: Runtime


def parts_of(config: DictConfig) -> SharedParts:
    """Built from a copy, since building resolves and freezes; swept values are missing in it and not asked for.

    Raises:
        ConfigError: of `tracking`, `paths` or `runtime`.
    """
    own, current = copy.deepcopy(config), HydraConfig.instance()
    before = current.cfg
    with open_dict(own):
        own.hydra.runtime.output_dir = own.hydra.runtime.cwd
        own.hydra.job.num = 0
        current.set_config(own)
        del own["hydra"]
    try:
        return build_parts(SharedParts, own)
    finally:
        current.cfg = before


def parent_of(config: DictConfig, launch: str) -> Start:
    """What the store is told of the sweep, without parameters: those of its cells stand in the columns beside it."""
    asked = [redact_override(override) for override in texts_of(config.hydra.overrides.task)]
    of_hydra = [redact_override(override) for override in texts_of(config.hydra.overrides.hydra)]
    flags = ["-m", *(override for override in of_hydra if override != "hydra.mode=MULTIRUN")]
    return Start(
        name=" ".join(["sweep", *telling(texts_of(config.hydra.overrides.task))]),
        choices={},
        config={},
        overrides=(*flags, *asked),
        launched_from=Path(config.hydra.runtime.cwd),
        sweep=True,
        launch=launch,
    )


def stores_apart(config: DictConfig, tracking: Tracker | None) -> list[str]:
    """The overrides, secrets removed, by which the cells of a sweep go to other stores or experiments than each other.

    Raises:
        HydraException: of an override that cannot be read.
    """
    from glyphrank.tracking.local import Local

    deciding = {"tracking"} | ({"paths", "paths.outputs"} if isinstance(tracking, Local) else set())
    return [
        redact_override(str(override.input_line))
        for override in _given(config)
        if override.is_sweep_override()
        and (override.key_or_group in deciding or override.key_or_group.startswith("tracking."))
    ]


def is_for_all_cells(config: DictConfig) -> bool:
    """Whether all cells have the tracking, folders and runtime of the sweep's own config, and so their faults.

    Raises:
        HydraException: of an override that cannot be read.
    """
    if OmegaConf.select(config, "tracking._target_") is None:
        return False
    roots = {override.key_or_group.partition(".")[0] for override in _given(config) if override.is_sweep_override()}
    return not roots & {"tracking", "paths", "runtime", "experiment"}


def check_store(config: DictConfig) -> None:
    """Opens the store that all cells share, as the sweep itself does later; one that is only down may be up by then.

    Raises:
        ConfigError: it can never be used as it is named.
    """
    from glyphrank.tracking.local import Local
    from glyphrank.tracking.places import local_place, remote_place
    from glyphrank.tracking.server import Server
    from glyphrank.tracking.store import StoreDownError

    if not is_for_all_cells(config):
        return
    parts = parts_of(config)
    outputs, tracking = parts.runtime.outputs, parts.tracking
    with suppress(StoreDownError):
        if isinstance(tracking, Local):
            local_place(outputs, tracking.experiment).open()
        elif isinstance(tracking, Server):
            cwd = Path(config.hydra.runtime.cwd)
            remote_place(tracking.uri or "", tracking.experiment, cwd, outputs).open()


def _given(config: DictConfig) -> list[Override]:
    """All overrides that reach the cells, those of the sweeper's own parameters first."""
    params = [f"{name}={value}" for name, value in (config.hydra.sweeper.get("params") or {}).items()]
    return _parsed([*params, *texts_of(config.hydra.overrides.task)])


def _parsed(overrides: Sequence[str]) -> list[Override]:
    hydra = GlobalHydra.instance()
    loader = hydra.config_loader() if hydra.is_initialized() else None  # which knows what a glob stands for
    return OverridesParser.create(config_loader=loader).parse_overrides(list(overrides))


def _is_file(entry: Any) -> bool:
    return bool(entry.schema == "file")
