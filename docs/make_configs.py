"""Writes docs/configs.md: every group, choice and field, as `conf/` and the classes have them.

python docs/make_configs.py            # writes the page (make docs)
python docs/make_configs.py --check    # says whether it is current (make check)

What is described nowhere is an error, so that the page cannot lag behind.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from hydra.core.plugins import Plugins

from beside_groups import experiments, launchers, sweepers
from described import (
    Field,
    UndescribedError,
    component_of,
    head_of,
    read_fields,
    summary_of,
    type_words,
    whole_of,
    words_of,
)
from glyphrank.builder import fits
from glyphrank.composition import config_folder, register_resolvers
from glyphrank.run import Run
from glyphrank.runtime import Runtime
from written import plain, safe, sentence, shown, table

PAGE = Path(__file__).parent / "configs.md"
LEAVES_OUT = "none"
"""The choice of every group that has one without a component."""
OF_HYDRA = {
    "hydra.run.dir": "folder of a single run's files",
    "hydra.sweep.dir": "folder of a sweep; the same one again goes on with that sweep",
    "hydra.sweep.subdir": "folder of a cell in it",
}
"""What people set of Hydra's own keys that `config.yaml` fills."""
HEAD = """# Configs

<!-- Made by `make docs` from conf/, experiments/ and the classes. Change those, not this page. -->

Everything that a run can be told, as it is typed: `glyphrank run GROUP=CHOICE FIELD=VALUE`, for example

```
glyphrank run -m dataset=sample_pages encoder@text=minilm text.max_length=128 lexical.k1=0.9,1.2
```

A field belongs to the choice that stands in its group, and has the value that is given here where nothing else is said.
`???` has no value: it must be given. `null` is none at all. With `-m` values parted by commas are swept. Lists stand in
brackets and need quotes of the shell: `'metrics.cutoffs=[1,10]'`. `${...}` takes its value from elsewhere.
`glyphrank run --cfg job OVERRIDES` shows what would run."""


def main(arguments: Sequence[str]) -> int:
    """Writes the page, or with `--check` only compares; returns the exit code."""
    try:
        text = page(config_folder())
    except UndescribedError as error:
        sys.stderr.write(f"docs/configs.md: {error}\n")
        return 1
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        sys.stderr.write("docs/configs.md is not current: run `make docs` and commit what it writes\n")
        return 1
    return 0


def page(conf: Path) -> str:
    """The page for a folder of choices.

    Raises:
        UndescribedError: a group without a choice or a slot, a choice or experiment without its comment, a class or
            field without its docstring.
    """
    register_resolvers()  # which also loads the plug-ins of Hydra
    Plugins.instance()
    root = plain(conf / "config.yaml")
    defaults = _defaults(root)
    sections: list[tuple[str, str]] = []
    enums: dict[str, type[StrEnum]] = {}
    for group in _groups(conf, defaults):
        sections.append((group, "\n\n".join(_group(conf / group, defaults, enums))))
    sections.append(("Root keys", "\n\n".join(_root_keys(root, enums))))
    sections.append(("Experiments", "\n\n".join(experiments(conf / "experiment"))))
    sections.append(("Launchers and sweepers", "\n\n".join([*launchers(conf / "hydra" / "launcher"), *sweepers()])))
    sections.append(("Values by name", "\n\n".join(_values(enums))))
    contents = "\n".join(f"* [{title}](#{title.lower().replace(' ', '-')})" for title, _ in sections)
    return "\n\n".join([HEAD, "## Contents", contents, *(f"## {title}\n\n{text}" for title, text in sections)]) + "\n"


def _groups(conf: Path, defaults: Mapping[str, str]) -> list[str]:
    """The folders of choices, in the order of the defaults list."""
    named = list(dict.fromkeys(slot.partition("@")[0] for slot in defaults))
    folders = [
        path.name for path in sorted(conf.iterdir()) if path.is_dir() and path.name not in ("hydra", "experiment")
    ]
    for name in [*folders, *named]:
        if name not in named:
            raise UndescribedError(
                f"conf/{name} is in no place of the defaults list of conf/config.yaml; name it there"
            )
        if not list((conf / name).glob("*.yaml")):
            raise UndescribedError(f"conf/{name} holds no choice; add a YAML or remove the group")
    return named


def _group(folder: Path, defaults: Mapping[str, str], enums: dict[str, type[StrEnum]]) -> Iterator[str]:
    """What the group is for, its choices, and a table of fields for each class."""
    slots = {slot.partition("@")[2] or slot: slot for slot in defaults if slot.partition("@")[0] == folder.name}
    for name, slot in slots.items():
        lead = f"`{slot}=...` " if len(slots) > 1 else ""
        yield f"{lead}{sentence(words_of(Run, name))} Default: `{slot}={defaults[slot]}`."
    files = sorted(folder.glob("*.yaml"))
    yield table(["choice", "what it is"], [[f"`{file.stem}`", safe(head_of(file))] for file in files])
    hints = typing.get_type_hints(Run)
    nodes = {file.stem: plain(file) for file in files if file.stem != LEAVES_OUT}
    for kind in dict.fromkeys(component_of(node) for node in nodes.values()):
        of_kind = {choice: node for choice, node in nodes.items() if component_of(node) is kind}
        fitting = [name for name in slots if fits(kind, _without_none(hints[name]))]
        yield f"### {kind.__name__}\n\n{safe(summary_of(kind))}"
        yield _stands_in(of_kind, [slots[name] for name in fitting])
        yield from _fields(fitting, {choice: list(read_fields(kind, node)) for choice, node in of_kind.items()}, enums)


def _stands_in(choices: Mapping[str, Any], slots: Sequence[str]) -> str:
    """The overrides that choose a class."""
    first, *rest = choices
    others = f" (or {', '.join(f'`{choice}`' for choice in rest)})" if rest else ""
    return f"Chosen by {' or '.join(f'`{slot}={first}`' for slot in slots)}{others}."


def _fields(
    slots: Sequence[str], choices: Mapping[str, Sequence[Field]], enums: dict[str, type[StrEnum]]
) -> Iterator[str]:
    """A row a field, with the values of all choices of the class."""
    rows: dict[tuple[str, str], tuple[Field, dict[str, list[str]]]] = {}
    for choice, found in choices.items():
        for field in found:
            _, values = rows.setdefault((field.path, field.words), (field, {}))
            values.setdefault(shown(field.value), []).append(choice)
            if field.enum:
                enums[field.enum.__name__] = field.enum
    tops = [path for path, _ in rows if "." not in path]  # fields of nested components stand below them
    lines = [
        [f"`{slots[0]}.{path}`", _kind(field), _by_choice(values, len(choices)), safe(words)]
        for (path, words), (field, values) in sorted(rows.items(), key=lambda row: tops.index(row[0][0].split(".")[0]))
    ]
    if not lines:
        yield "It has no fields."
        return
    if len(slots) > 1:
        others = " and ".join(f"`{slot}`" for slot in slots[1:])
        yield f"These are the names in the slot `{slots[0]}`; in {others} they begin with that."
    yield table(["field", "takes", "default", "what it is"], lines)


def _kind(field: Field) -> str:
    return f"[{field.kind}](#{field.enum.__name__.lower()})" if field.enum else field.kind


def _by_choice(values: Mapping[str, Sequence[str]], all_choices: int) -> str:
    """One value where all choices agree, else each with the choices that have it."""
    if len(values) == 1 and len(next(iter(values.values()))) == all_choices:
        return next(iter(values))
    return "<br>".join(f"{value} ({', '.join(choices)})" for value, choices in values.items())


def _root_keys(root: Mapping[str, Any], enums: dict[str, type[StrEnum]]) -> Iterator[str]:
    """Fields of the run itself, of `runtime` and `paths`, and what is Hydra's."""
    yield "Fields that belong to no choice."
    node = {name: value for name, value in root.items() if name not in ("defaults", "hydra", "paths")}
    runtime = {**node["runtime"], **root["paths"]}
    hints = typing.get_type_hints(Run)
    names = [field.name for field in dataclasses.fields(Run) if field.name in node and field.name != "runtime"]
    for name in node:
        if name not in ("runtime", *names):
            raise UndescribedError(f"conf/config.yaml has the key {name!r}, which is no field of run.Run; add it there")
    found = [
        *(_moved(field, root) for field in read_fields(Runtime, runtime)),
        *(field for name in names for field in _root_fields(name, hints[name], node[name])),
    ]
    enums |= {field.enum.__name__: field.enum for field in found if field.enum}
    rows = [[f"`{field.path}`", _kind(field), shown(field.value), safe(field.words)] for field in found]
    yield table(["field", "takes", "default", "what it is"], rows)
    yield "Hydra's own, as far as they are set here:"
    hydra = {
        f"hydra.{part}.{key}": root["hydra"][part][key] for part in ("run", "sweep") for key in root["hydra"][part]
    }
    for name in hydra:
        if name not in OF_HYDRA:
            raise UndescribedError(f"conf/config.yaml sets {name}; add to OF_HYDRA in docs/make_configs.py what it is")
    yield table(
        ["field", "default", "what it is"], [[f"`{name}`", shown(hydra[name]), OF_HYDRA[name]] for name in hydra]
    )


def _moved(field: Field, root: Mapping[str, Any]) -> Field:
    """A field of `Runtime` under the root key below which a person finds it."""
    return dataclasses.replace(field, path=f"{'paths' if field.path in root['paths'] else 'runtime'}.{field.path}")


def _root_fields(name: str, hint: Any, value: Any) -> Iterator[Field]:
    """A root key as a field, or the fields of the record that it is."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield from read_fields(hint, value, f"{name}.")
        return
    inner = _without_none(hint)
    enum = inner if isinstance(inner, type) and issubclass(inner, StrEnum) else None
    yield Field(name, type_words(hint), words_of(Run, name), enum, value)


def _values(enums: Mapping[str, type[StrEnum]]) -> Iterator[str]:
    """The enumerations that fields name, with what they say of themselves."""
    yield "What the words mean that some fields take."
    for name in sorted(enums):
        yield f"### {name}\n\n{', '.join(f'`{value}`' for value in enums[name])}: {safe(whole_of(enums[name]))}"


def _defaults(root: Mapping[str, Any]) -> dict[str, str]:
    """The slots of the defaults list, with the choice that each has."""
    pairs = [pair for entry in root["defaults"] if isinstance(entry, Mapping) for pair in entry.items()]
    own = [(str(slot), str(choice)) for slot, choice in pairs if not str(slot).startswith("override ")]
    return {slot: choice for slot, choice in own if slot != "experiment"}


def _without_none(hint: Any) -> Any:
    rest = [argument for argument in typing.get_args(hint) if argument is not types.NoneType]
    return rest[0] if typing.get_origin(hint) in (typing.Union, types.UnionType) and len(rest) == 1 else hint


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
