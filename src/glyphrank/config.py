"""From the config that Hydra composed to a run that is built: resolved once, checked whole, every fault at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from glyphrank.builder import BROKEN, Builder, Fault, find_component, fits, raise_for
from glyphrank.identity import Stamp, stamp_of
from glyphrank.known_secrets import remember
from glyphrank.origins import Origins, slot_of, telling
from glyphrank.redaction import is_secret, redact, redact_override
from glyphrank.run import Run
from glyphrank.runtime import Runtime
from glyphrank.tracking import Tracker
from glyphrank.tracking.names import parameters
from glyphrank.tracking.parents import find_parent, remembered_sweep
from glyphrank.tracking.start import Start

_ON_THIS_HOST = (".BasicLauncher", ".JoblibLauncher", ".LocalLauncher")
"""Launchers that are known to start cells on the host of the launching process."""


@dataclass(frozen=True)
class Cell:
    """Hydra's current job.

    Attributes:
        folder: absolute folder of this run's files.
        copies: the files in which Hydra keeps what the person asked for, as it was typed.
        overrides: what the person asked for, secrets removed.
        sweep: absolute folder of the sweep of which it is a cell, as the launching process knows it, else None.
        launch: tells the command from others.
        counts: whether the sweeper counts a failed cell by the error that it raises, and cannot take NaN.
    """

    folder: Path
    copies: tuple[Path, ...]
    overrides: tuple[str, ...]
    sweep: Path | None
    launch: str
    counts: bool


def current_cell() -> Cell:
    """What Hydra says of the job that runs now."""
    hydra = HydraConfig.get()
    overrides = tuple(redact_override(override) for override in texts_of(hydra.overrides.task))
    folder, sweep = Path(hydra.runtime.output_dir), _sweep_folder(hydra) if hydra.mode == RunMode.MULTIRUN else None
    copies = sorted((folder / hydra.output_subdir).glob("*.yaml")) if hydra.output_subdir else []
    copies += [sweep / "multirun.yaml"] if sweep else []
    counts = not str(hydra.sweeper.get("_target_")).endswith(".BasicSweeper")
    return Cell(folder, tuple(copies), overrides, sweep, _launch(hydra), counts)


Parts = TypeVar("Parts")


def build(config: DictConfig) -> tuple[Run, Start]:
    """The run that Hydra's current config describes, and what a tracker is told of it (secrets removed).

    Args:
        config: composed config without Hydra's own node; it is resolved in place, once, and then frozen.

    Raises:
        ConfigError: names every fault: missing and unknown keys, wrong types, foreign components, values out of range.
    """
    run, plain = _built(Run, config)
    return run, _start(plain)


@dataclass(frozen=True)
class Told:
    """What a tracker needs to hear of a run that cannot be built."""

    tracking: Tracker | None
    runtime: Runtime


def build_told(config: DictConfig) -> tuple[Told, Start]:
    """As `build`, where other parts of the run have faults.

    Raises:
        ConfigError: `tracking`, `runtime` or `paths` have some too.
    """
    told, plain = _built(Told, config)
    return told, _start(_filled(plain))


def build_parts(kind: type[Parts], config: DictConfig) -> Parts:
    """Those parts of a run that `kind`, a dataclass, names as its fields; arguments and errors as for `build`."""
    return _built(kind, config)[0]


def _start(plain: Mapping[str, Any]) -> Start:
    hydra = HydraConfig.get()
    choices, overrides = _choices(hydra), texts_of(hydra.overrides.task)
    launcher = str(hydra.launcher.get("_target_")) if hydra.mode == RunMode.MULTIRUN else ""
    return Start(
        name=_name(choices, overrides),
        choices=choices,
        changed=_changed(plain, choices, _folders(hydra)),
        config=redact(plain),
        overrides=tuple(redact_override(override) for override in overrides),
        launched_from=Path(hydra.runtime.cwd),
        parent=_parent(hydra),
        named=tuple(dict.fromkeys(override.partition("=")[0].lstrip("+~") for override in overrides)),
        launch=_launch(hydra),
        off_host=bool(launcher) and not launcher.endswith(_ON_THIS_HOST),
    )


def _filled(value: Any) -> Any:
    """Plain values in which `???` stands for what could not be resolved."""
    if isinstance(value, dict):
        return {name: _filled(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry) for entry in value]
    return "???" if value is BROKEN else value


def _built(kind: type[Parts], config: DictConfig) -> tuple[Parts, dict[str, Any]]:
    """The parts, and the whole config in plain values."""
    hydra = HydraConfig.get()
    faults: list[Fault] = []
    plain = _resolve(config, faults)
    remember(_secrets(plain, hidden=False))
    choices = _choices(hydra)
    plugins = _plugins(plain, hydra, faults)
    packages = {"glyphrank", *plugins}
    builder = Builder(packages, Path(hydra.runtime.cwd), _ChoiceList(choices, _folders(hydra), packages))
    root = _with_places(plain)
    if kind is not Run:
        names = {field.name for field in fields(cast(Any, kind))}
        root = {name: node for name, node in root.items() if name in names}
        faults = [fault for fault in faults if fault.path.partition(".")[0] in names]
    parts = builder.build(kind, root)
    raise_for([*faults, *builder.faults], Origins(choices, texts_of(hydra.overrides.task)))
    return parts, plain


def _changed(plain: Mapping[str, Any], choices: Mapping[str, str], folders: Sequence[Path]) -> tuple[str, ...]:
    """Names of parameters to which an override or an experiment gave another value than the choice's own file."""
    changed: list[str] = []
    for slot, choice in choices.items():
        group, _, key = slot.rpartition("@") if "@" in slot else (slot, "", slot)
        file = next((path for folder in folders if (path := folder / group / f"{choice}.yaml").is_file()), None)
        if file is None or key not in plain:
            continue
        own = _values(stamp_of(file), key)
        now = parameters({}, {key: plain[key]})
        changed += [name for name in own if name in now and "${" not in own[name] and own[name] != now[name]]
    return tuple(changed)


@lru_cache(maxsize=64)
def _values(choice: Stamp, key: str) -> Mapping[str, str]:
    """The parameters that a choice's file gives to a key of the root; the cells of a sweep share most choices."""
    return parameters({}, {key: OmegaConf.to_container(OmegaConf.load(str(choice[0])), resolve=False)})


def _choices(hydra: HydraConf) -> dict[str, str]:
    return {name: choice for name, choice in hydra.runtime.choices.items() if not name.startswith("hydra/")}


def texts_of(overrides: Any) -> list[str]:
    """The overrides as they were given: an interpolation in one stays a text."""
    plain = OmegaConf.to_container(overrides, resolve=False)
    return [str(override) for override in plain] if isinstance(plain, list) else []


def _parent(hydra: HydraConf) -> dict[str, str]:
    """The reference of the sweep's parent run, which the launching process left in the sweep's folder."""
    return find_parent(_sweep_folder(hydra), _launch(hydra)) if hydra.mode == RunMode.MULTIRUN else {}


def _sweep_folder(hydra: HydraConf) -> Path:
    """The launching process's, also where what is swept (`paths.outputs=a,b`) lets a cell's config name another."""
    return remembered_sweep(_launch(hydra)) or Path(hydra.runtime.cwd, hydra.sweep.dir)


def _launch(hydra: HydraConf) -> str:
    return str((hydra.callbacks.get("sweep") or {}).get("launch"))


def _name(choices: Mapping[str, str], overrides: Sequence[str]) -> str:
    """What the dashboard calls the run: its dataset and channels, then the values that were overridden."""
    slots = ("dataset", "encoder@visual", "encoder@text", "encoder@lexical")
    parts = [choices[slot] for slot in slots if choices.get(slot, "none") != "none"]
    return " ".join([*parts, *telling([text for text in overrides if text.partition("=")[0] not in choices])])


def _resolve(config: DictConfig, faults: list[Fault]) -> dict[str, Any]:
    """Resolves in place, once (resolvers may count or tell the time), freezes, and returns plain values."""
    with suppress(OmegaConfBaseException):  # the walk below names every node that cannot be resolved, not the first
        OmegaConf.resolve(config)
    OmegaConf.set_readonly(config, True)
    return {str(key): _walk(config, key, str(key), faults) for key in config}


def _walk(parent: DictConfig | ListConfig, key: Any, path: str, faults: list[Fault]) -> Any:
    try:
        if OmegaConf.is_missing(parent, key):
            faults.append(Fault(path, f"is not given; pass {path}=VALUE"))
            return BROKEN
        value = parent[key]
    except OmegaConfBaseException as error:
        faults.append(Fault(path, f"{str(error).splitlines()[0]}; give {path}=VALUE"))
        return BROKEN
    if isinstance(value, DictConfig):
        return {str(name): _walk(value, name, f"{path}.{name!s}", faults) for name in value}
    if isinstance(value, ListConfig):
        return [_walk(value, position, f"{path}[{position}]", faults) for position in range(len(value))]
    return value


def _with_places(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The root with the folders of `paths` among the fields of `runtime`, where components look for them."""
    root = dict(plain)
    if isinstance(root.get("runtime"), Mapping) and isinstance(root.get("paths"), Mapping):
        root["runtime"] = {**root["runtime"], **root.pop("paths")}
    return root


def _secrets(value: Any, hidden: bool) -> Iterator[str]:
    """The texts that stand below a secret name."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _secrets(entry, hidden or is_secret(str(name)))
    elif isinstance(value, list):
        for entry in value:
            yield from _secrets(entry, hidden)
    elif hidden and isinstance(value, str):
        yield value


def _plugins(plain: Mapping[str, Any], hydra: HydraConf, faults: list[Fault]) -> list[str]:
    """The packages a person allows; their folders (of the launch and of --config-dir) become importable, last."""
    named = plain.get("plugins")
    plugins = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    faults += [
        Fault(f"plugins[{position}]", f"found {name!r}, wanted the name of a top package, without dots")
        for position, name in enumerate(plugins)
        if not name.isidentifier()
    ]
    if plugins:
        reach_plugins(hydra)
    return plugins


def reach_plugins(hydra: HydraConf) -> None:
    """Lets Python look for modules, last of all, in the folders of choices and in the folder of launch."""
    known = set(sys.path)
    sys.path += [str(place) for place in (*_folders(hydra), hydra.runtime.cwd) if str(place) not in known]


def _folders(hydra: HydraConf) -> list[Path]:
    """Folders on Hydra's search path, in order."""
    return [Path(source.path) for source in hydra.runtime.config_sources if source.schema == "file"]


@dataclass(frozen=True)
class _ChoiceList:
    """Lists the choices of a slot's group whose component fits."""

    choices: Mapping[str, str]
    folders: Sequence[Path]
    packages: set[str]

    def __call__(self, path: str, wanted: Any) -> list[str]:
        slot = slot_of(path, self.choices)
        if slot is None or "." in path:
            return []
        group = slot.partition("@")[0]
        files = sorted(file for folder in self.folders for file in (folder / group).glob("*.yaml"))
        return [file.stem for file in files if self._fits(file, wanted)]

    def _fits(self, file: Path, wanted: Any) -> bool:
        try:
            node = OmegaConf.load(file)
            return fits(find_component(OmegaConf.select(node, "_target_"), self.packages), wanted)
        except Exception:  # a file that cannot even be read is no choice; its own faults are not asked for here
            return False
