"""The layers of DESIGN section 2: who may import whom, and who may import what from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "glyphrank"
FILES = sorted(SOURCE.rglob("*.py"))
LAYERS = {
    0: {"__init__", "errors", "faults", "ids", "outcome", "records", "runtime"},
    1: {
        "benchmark",
        "beside",
        "cache",
        "cache_folders",
        "ceilings",
        "contributions",
        "device_leases",
        "devices",
        "expected",
        "extras",
        "file_locks",
        "fusion",
        "garble",
        "grouping",
        "identity",
        "intervals",
        "json_objects",
        "impossible",
        "known_secrets",
        "last_values",
        "log_file",
        "launched",
        "matrix_doubts",
        "matrix_file",
        "media",
        "misses",
        "pooling",
        "metrics",
        "packages",
        "progress",
        "ranked_lists",
        "ranking",
        "resampling",
        "redacted_files",
        "redaction",
        "repositories",
    }
    | {
        "reading_order",
        "scoring",
        "shard_folder",
        "shard_locks",
        "shards",
        "significance",
        "array_shards",
        "digests",
        "rates",
        "sources",
        "versions",
        "walked",
        "slanted_lines",
        "slurm_jobs",
        "ties",
        "transcript",
        "windows",
        "trec",
        "trec_lines",
        "whole_files",
        "workers",
        "written_out",
    },
    2: {"audit", "datasets", "encoders", "indexes", "ocr", "report", "tracking", "starting_files", "starting_text"},
    3: {
        "answers",
        "bad_items",
        "channels",
        "comparable",
        "compare",
        "differing",
        "evaluations",
        "expected_files",
        "loading",
        "measure",
        "page_choice",
        "page_parts",
        "pipeline",
        "plan",
        "plan_stages",
        "plan_why",
        "probe",
        "probe_sample",
        "rankings",
        "reading",
        "reporting",
        "reproduce",
        "run",
        "score",
        "score_matrix",
        "sight",
        "stages",
        "starting",
        "traced",
        "uncertainty",
        "visual",
        "working",
    },
    4: {
        "builder",
        "composition",
        "config",
        "expected_runs",
        "expected_scores",
        "planned_cells",
        "stored_config",
        "stored_run_command",
    }
    | {"composed_once", "origins", "sweep_config"},
    5: {"__main__", "check", "compare_command", "job", "score_command", "sweep", "sweep_cells"}
    | {"cache_command", "plan_command", "reproduce_command", "ended_cells", "open_sweep", "relaunch", "snapshot"}
    | {"new_command", "quickstart_command", "report_command", "sync_command"},
}
LAYER = {name: layer for layer, names in LAYERS.items() for name in names}
HEAVY = {
    "torch",
    "mlflow",
    "sentence_transformers",
    "transformers",
    "bm25s",
    "kiwipiepy",
    "pypdfium2",
    "reportlab",
    "pyarrow",
} | {*("decord", "easyocr", "open_clip", "faiss", "cv2", "torchvision")}
PLUGINS = ("datasets", "encoders", "indexes", "ocr", "tracking")


def unit(path: Path) -> str:
    """The file's module or folder below the package."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path, top_only: bool = False) -> Iterator[str]:
    """Dotted names that a file imports; with `top_only`, those that importing it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if top_only and id(node) in inner:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(path: Path) -> set[str]:
    """Modules and folders of the package that a file imports."""
    names = {name.split(".")[1] for name in imports(path) if name.startswith("glyphrank.")}
    return {name for name in names if name in LAYER}


def test_every_module_has_a_layer() -> None:
    assert {unit(path) for path in FILES} == set(LAYER)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downwards(path: Path) -> None:
    here = unit(path)
    upward = {name for name in own(path) if LAYER[name] > LAYER[here]}
    assert not upward, f"{here} (layer {LAYER[here]}) imports {upward}"
    if here in PLUGINS:
        assert not own(path) & set(PLUGINS) - {here}, f"{here} imports another folder of plug-ins"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_inside_functions(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path, top_only=True)} & HEAVY


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_hydra_and_mlflow_stay_in_their_rooms(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path)}
    hydras = {
        "composed_once",
        "composition",
        "config",
        "planned_cells",
        "relaunch",
        "sweep",
        "sweep_config",
        "__main__",
    }
    if unit(path) not in hydras:
        assert not outside & {"hydra", "omegaconf"}
    if unit(path) != "tracking":
        assert "mlflow" not in outside


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            name = f"{path.name}:{node.name}"
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            assert len([argument for argument in arguments if argument.arg not in ("self", "cls")]) <= 6, name
            assert (node.end_lineno or 0) - node.lineno < 60, name
