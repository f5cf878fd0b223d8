"""`glyphrank cache`: lists what the cache holds, and removes what nobody wants any more."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from glyphrank.cache_folders import (
    FILES,
    Component,
    components,
    described,
    leftovers,
    remove,
    remove_leftovers,
)
from glyphrank.errors import ConfigError, DataError
from glyphrank.report.fitting import fitted
from glyphrank.report.table import NO_LIMIT
from glyphrank.written_out import write_out

_UNITS = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_TITLES = ("component", "stage", "key", "shards", "inputs", "size", "first made", "last use")
_SPARE = ("first made", "shards", "key", "inputs")
_SHOWN_KEY = 12
_FINGERPRINTS = "(fingerprints of files)"


def run_cache(argv: Sequence[str]) -> int:
    """The command: prints what the cache holds or what it removes, and returns the exit code.

    0: done; 1: something that was to be removed is still there; 2: the command cannot be carried out as it was given.
    """
    parser = _parser()
    try:
        options = parser.parse_args(argv)
        cache = _cache(options)
        if options.action == "list":
            _refuse_choices(options, parser)
            held = components(cache)
            write_out(json.dumps(_listed(cache, held), indent=2) if options.json else _as_text(cache, held))
            return 0
        return _prune(options, cache)
    except SystemExit as leave:
        return int(leave.code or 0)
    except (ConfigError, DataError) as error:
        sys.stderr.write(f"glyphrank: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank cache",
        description="What the cache holds, by component, size and last use; with prune: removes what all given choices "
        "fit. Results of runs are kept elsewhere and stay. What is removed is made again when a run needs it; "
        "processes that run meanwhile are not disturbed.",
    )
    parser.add_argument("action", nargs="?", choices=["list", "prune"], default="list")
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="default: GLYPHRANK_OUTPUTS, else outputs")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="default: cache in --outputs (as paths.cache)")
    parser.add_argument("--json", action="store_true", help="print JSON; sizes in bytes, times in seconds since 1970")
    choice = parser.add_argument_group("what prune removes")
    choice.add_argument("--older-than", type=_duration, metavar="TIME", help="not used for so long: 12h, 30d, 8w")
    choice.add_argument("--stage", action="append", default=[], metavar="NAME", help="e.g. reading, vectors, files")
    choice.add_argument("--key", action="append", default=[], metavar="KEY", help="a key of the list or its beginning")
    choice.add_argument("--all", action="store_true", help="everything")
    choice.add_argument("--yes", action="store_true", help="remove it; without this it is only shown")
    return parser


def _duration(text: str) -> float:
    """Seconds of `12h`, `30d` or `8w`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"found {text!r}; wanted a number with h, d or w behind it, e.g. 30d")
    return float(found[1]) * _UNITS[found[2]]


def _refuse_choices(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    given = [
        f"--{name.replace('_', '-')}"
        for name in ("older_than", "stage", "key", "all", "yes")
        if _is_given(options, name)
    ]
    if given:
        parser.error(f"{', '.join(given)} goes with prune: glyphrank cache prune {given[0]} ...")


def _is_given(options: argparse.Namespace, name: str) -> bool:
    return getattr(options, name) not in (None, False, [])


def _cache(options: argparse.Namespace) -> Path:
    """The folder of the cache; a ConfigError where there is none."""
    outputs = options.outputs or Path(os.environ.get("GLYPHRANK_OUTPUTS") or "outputs")
    cache: Path = options.cache or outputs / "cache"
    if not cache.is_dir():
        raise ConfigError(
            f"there is no cache in {cache}; name its folder with --cache, or that of outputs with --outputs"
        )
    return cache


def _prune(options: argparse.Namespace, cache: Path) -> int:
    """Removes what is chosen, or shows it; always with what died processes left."""
    chosen = _chosen(options, components(cache))
    left = leftovers(cache)
    troubles: list[str] = []
    removed: list[Component] = []
    freed = 0
    if options.yes:
        for component in chosen:
            try:
                freed += remove(component)
                removed.append(component)
            except DataError as error:
                troubles.append(str(error))
        try:
            freed += remove_leftovers(left)
        except DataError as error:
            troubles.append(str(error))
    if options.json:
        entries = {"removed": [_entry(each) for each in removed], "leftovers": [str(path) for path in left]}
        pruned = {"cache": str(cache), "chosen": [_entry(each) for each in chosen], **entries, "freed": freed}
        write_out(json.dumps({**pruned, "troubles": troubles}, indent=2))
    else:
        write_out(_told(options, cache, chosen, left, freed))
    for trouble in troubles:
        sys.stderr.write(f"glyphrank: {trouble}\n")
    return int(bool(troubles))


def _chosen(options: argparse.Namespace, held: Sequence[Component]) -> list[Component]:
    """The components that all choices fit; none where nothing is chosen.

    Raises:
        ConfigError: a stage or a key that is named is not there, or a key means several.
    """
    stages = {component.stage for component in held}
    for stage in options.stage:
        if stage not in stages:
            raise ConfigError(
                f"the cache holds no stage {stage!r}; wanted one of {', '.join(sorted(stages)) or 'none'}"
            )
    keys = [_key(given, held) for given in options.key]
    if not (options.all or options.stage or options.key or options.older_than is not None):
        return []
    return [
        component
        for component in held
        if (not options.stage or component.stage in options.stage)
        and (not keys or component.key in keys)
        and (options.older_than is None or time.time() - component.last_used >= options.older_than)
    ]


def _key(given: str, held: Sequence[Component]) -> str:
    found = sorted({component.key for component in held if component.key and component.key.startswith(given)})
    if len(found) != 1 or not given:
        several = f"begins {len(found)} keys: {', '.join(found[:5])}" if found else "begins no key of the cache"
        raise ConfigError(f"--key {given!r} {several}; wanted one; glyphrank cache lists them")
    return found[0]


def _told(
    options: argparse.Namespace, cache: Path, chosen: Sequence[Component], left: Sequence[Path], freed: int
) -> str:
    lines = [_table(chosen)] if chosen else []
    files = f"{len(left)} temporary and lock files of processes that died"
    if options.yes:
        return "\n".join([*lines, f"removed {_size(freed)} from {cache}" + (f", with {files}" if left else "")])
    if left:
        lines.append(f"beside that {files}" if chosen else files)
    if not chosen and not left:
        lines.append(
            "nothing to remove" + ("" if _chooses(options) else "; choose with --older-than, --stage, --key or --all")
        )
    else:
        lines.append(f"{_size(sum(each.size for each in chosen))} in {cache} would be removed; --yes removes it")
    return "\n".join(lines)


def _chooses(options: argparse.Namespace) -> bool:
    return any(_is_given(options, name) for name in ("older_than", "stage", "key", "all"))


def _as_text(cache: Path, held: Sequence[Component]) -> str:
    total = f"{cache}: {_size(sum(each.size for each in held))} in {sum(len(each.shards) for each in held)} files"
    return f"{_table(held)}\n{total}" if held else f"{cache}: empty"


def _table(held: Sequence[Component]) -> str:
    from rich.console import Console

    rows = [
        [
            described(component.recipe) or (_FINGERPRINTS if component.stage == FILES else "(no manifest)"),
            component.stage,
            component.key[:_SHOWN_KEY],
            f"{len(component.shards):,}",
            f"{component.inputs:,}",
            _size(component.size),
            _day(component.first_made),
            _day(component.last_used),
        ]
        for component in held
    ]
    console = Console(width=None if sys.stdout.isatty() else NO_LIMIT, highlight=False)
    table, left_out = fitted(_TITLES, rows, console.width, _SPARE)
    with console.capture() as captured:
        console.print(table)
    note = f"\nno room here for {', '.join(left_out)}; --json has all" if left_out else ""
    return captured.get().rstrip("\n") + note


def _listed(cache: Path, held: Sequence[Component]) -> dict[str, object]:
    return {"cache": str(cache), "size": sum(each.size for each in held), "components": [_entry(each) for each in held]}


def _entry(component: Component) -> dict[str, object]:
    return {
        "stage": component.stage,
        "key": component.key,
        "component": described(component.recipe),
        "recipe": component.recipe,
        "device": component.device,
        "shards": len(component.shards),
        "inputs": component.inputs,
        "size": component.size,
        "first_made": component.first_made,
        "last_used": component.last_used,
        "folder": str(component.folder),
    }


def _day(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M") if seconds else ""


def _size(count: float) -> str:
    """Bytes for people.

    >>> _size(999), _size(1_234_000)
    ('999 B', '1.2 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.5 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
