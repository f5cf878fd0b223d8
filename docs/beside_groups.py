"""The sections of the page of configs about what stands beside the groups: experiments, launchers, sweepers."""

from __future__ import annotations

import dataclasses
import json
import re
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from described import UndescribedError, comments_of, head_lines, head_of, type_words
from written import plain, sentence, shown, table

OPTUNA = {
    "direction": "which end of the primary metric is looked for",
    "n_trials": "cells that are run",
    "n_jobs": "cells at once; those of a batch learn nothing of each other",
    "max_failure_rate": "share of the cells that may fail, in [0, 1]",
    "sampler.seed": "decides which values are tried",
}
"""What people set of the sweeper Optuna, whose fields are its plug-in's."""


def experiments(folder: Path) -> Iterator[str]:
    """The overlays with the question, the command and the expectation of their heads.

    Raises:
        UndescribedError: one opens without them.
    """
    yield "Overlays that answer a question: `glyphrank run experiment=NAME`. Whatever else is given counts on top."
    for file in sorted(folder.glob("*.yaml")):
        head = "\n".join(head_lines(file))
        found = re.fullmatch(r"Question: (.+)\nCommand: (.+)\nExpect: (.+)", head, re.DOTALL)
        if found is None:
            raise UndescribedError(f"experiments/{file.name} opens without Question, Command and Expect, in this order")
        question, command, expect = (" ".join(part.split()) for part in found.groups())
        node = plain(file)
        swept = ((node.pop("hydra", None) or {}).get("sweeper") or {}).get("params") or {}
        chosen = [*_chosen(node.pop("defaults", [])), *_leaves(node)]
        yield f"### {file.stem}\n\n{sentence(question)}\n\n```\n{command}\n```"
        yield f"Expect: {sentence(expect)}"
        yield f"It sets {', '.join(chosen)}."
        if swept:
            yield f"It sweeps {', '.join(f'`{name}={values}`' for name, values in swept.items())}."


def launchers(folder: Path) -> Iterator[str]:
    """Presets of launchers, whose fields are those of their plug-ins.

    Raises:
        UndescribedError: one opens without a comment, or its plug-in is not installed.
    """
    yield "`hydra/launcher=CHOICE` says where the cells of a sweep run; without it they run one after the other."
    for file in sorted(folder.glob("*.yaml")):
        node, comments = plain(file), comments_of(file)
        package = str(node["_target_"]).split(".")[1].replace("_", "-")
        hints = _stored_hints(str(node.pop("_target_")), file)
        yield f"### {file.stem}\n\n{sentence(head_of(file))} Chosen by `hydra/launcher={file.stem}`."
        rows = [
            [f"`hydra.launcher.{name}`", type_words(hints[name]), shown(value), comments.get(name, f"as in {package}")]
            for name, value in node.items()
        ]
        yield table(["field", "takes", "default", "what it is"], rows)


def sweepers() -> Iterator[str]:
    """What is set of the sweeper Optuna, as far as a person meets it."""
    optuna = ConfigStore.instance().load("hydra/sweeper/optuna.yaml").node
    seed = ConfigStore.instance().load("hydra/sweeper/sampler/tpe.yaml").node.seed
    values = {name: seed if name == "sampler.seed" else _raw(optuna, name) for name in OPTUNA}
    yield (
        "### optuna\n\nTries values where earlier cells did best, by the primary metric of `metrics`; needs "
        "`glyphrank[optuna]`. Chosen by `hydra/sweeper=optuna`; ranges are overrides: `'lexical.k1=interval(0.5,2.0)'`."
    )
    rows = [[f"`hydra.sweeper.{name}`", shown(values[name]), words] for name, words in OPTUNA.items()]
    yield table(["field", "default", "what it is"], rows)


def _chosen(defaults: list[Any]) -> Iterator[str]:
    for entry in defaults:
        if isinstance(entry, Mapping):
            yield from (f"`{str(key).removeprefix('override ').lstrip('/')}={value}`" for key, value in entry.items())


def _leaves(node: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The values below a node, as overrides."""
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"`{above}{name}={value if isinstance(value, str) else json.dumps(value)}`"


def _stored_hints(target: str, file: Path) -> dict[str, Any]:
    """The types of a launcher's fields, as its plug-in stores them with Hydra."""
    for node in ConfigStore.instance().repo["hydra"]["launcher"].values():
        kind = OmegaConf.get_type(node.node)
        if dataclasses.is_dataclass(kind) and OmegaConf.select(node.node, "_target_") == target:
            return typing.get_type_hints(kind)
    raise UndescribedError(
        f"{file.name}: no plug-in that is installed has the launcher {target}; install glyphrank[dev]"
    )


def _raw(node: Any, name: str) -> Any:
    return OmegaConf.to_container(node, resolve=False)[name]  # type: ignore[index, call-overload]
