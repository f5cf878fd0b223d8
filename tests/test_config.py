from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import OmegaConf, open_dict, read_write

from composing import CHOICES, CONF, built, composed, filled
from glyphrank.builder import Builder, find_component
from glyphrank.config import build, build_told
from glyphrank.datasets.folder import Folder
from glyphrank.encoders.bm25 import Bm25
from glyphrank.errors import ConfigError
from glyphrank.tracking.local import Local


def fault(folder: Path, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        built(folder, *overrides)
    return str(caught.value)


def test_build_without_overrides_is_sample_pages_with_character_ngrams(tmp_path: Path) -> None:
    run, start = built(tmp_path)
    assert start.choices["dataset"] == "sample_pages"
    assert isinstance(run.lexical, Bm25)
    assert run.text is None
    assert run.channels == ("lexical",)


@pytest.mark.parametrize(("group", "choice"), CHOICES)
def test_every_choice_names_its_target_and_all_its_fields(group: str, choice: str, tmp_path: Path) -> None:
    node = OmegaConf.load(CONF / group / f"{choice}.yaml")
    plain = OmegaConf.to_container(node, resolve=False)
    assert isinstance(plain, dict)
    text = (CONF / group / f"{choice}.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 20
    if choice == "none":
        assert plain == {}
        return
    builder = Builder({"glyphrank"}, tmp_path)
    assert "_target_" in plain
    builder.build(find_component(plain["_target_"], {"glyphrank"}), filled(plain))
    assert not builder.faults


@pytest.mark.parametrize("experiment", sorted(path.stem for path in (CONF / "experiment").glob("*.yaml")))
def test_every_experiment_composes_and_builds(experiment: str, tmp_path: Path) -> None:
    first = (CONF / "experiment" / f"{experiment}.yaml").read_text(encoding="utf-8").splitlines()[:4]
    assert [line.split(":")[0] for line in first[1:]] == ["# Question", "# Command", "# Expect"]
    command, *overrides = first[2].partition(" run ")[2].removeprefix("-m ").split()  # what it leaves open stands there
    assert command == f"experiment={experiment}"
    assert built(tmp_path, command, *overrides)[1].choices["experiment"] == experiment


def test_build_names_all_faults_with_where_they_come_from(tmp_path: Path) -> None:
    message = fault(tmp_path, "lexical.k1=high", "lexical.b='0.5'", "+lexical.kk=1", "runtime.batch_size=0")
    assert "4 faults" in message
    assert "lexical.k1: found 'high' (str), wanted a valid number [override lexical.k1=high]" in message
    assert "lexical.b: found '0.5' (str)" in message
    assert "lexical.kk: is unknown" in message
    assert "batch_size is 0; wanted at least 1" in message


def test_a_fault_of_a_component_is_blamed_on_all_overrides_inside_it(tmp_path: Path) -> None:
    two = ["ocr=easyocr_en", "ocr.text_threshold=1.5", "ocr.min_size=-1"]
    for overrides in (two, [two[0], two[2], two[1]]):
        message = fault(tmp_path, *overrides, "lexical.b=0.5")
        assert "ocr: text_threshold is 1.5" in message
        assert f"[overrides {overrides[1]}, {overrides[2]}]" in message
    assert "[override ocr.min_size=-1]" in fault(tmp_path, "ocr=easyocr_en", "ocr.min_size=-1", "lexical.b=0.5")


def test_a_fault_of_a_value_is_blamed_on_the_override_that_made_it(tmp_path: Path) -> None:
    message = fault(tmp_path, "lexical.k1=1.5", "lexical.b=high", "+lexical.bb=1")
    assert "lexical.b: found 'high' (str), wanted a valid number [override lexical.b=high]" in message
    assert "[override +lexical.bb=1]" in message
    whole = fault(tmp_path, "lexical.b=0.5", "lexical={b: high}")
    assert "wanted a valid number [override lexical={b:high}]" in whole.replace(": high", ":high")


def test_build_with_an_unknown_experiment_fails_in_composition(tmp_path: Path) -> None:
    from hydra.errors import MissingConfigException

    with pytest.raises(MissingConfigException, match="nowhere"):
        composed(tmp_path, "experiment=nowhere")


def test_build_names_every_missing_value_and_what_points_at_it(tmp_path: Path) -> None:  # case H09
    message = fault(tmp_path, "dataset=folder", "lexical.k1=???", "lexical.b=${lexical.k1}")
    assert "dataset.root: is not given; pass dataset.root=VALUE [dataset=folder]" in message
    assert "lexical.k1: is not given" in message
    assert "lexical.b: " in message


def test_build_resolves_once_and_logs_what_was_used(tmp_path: Path) -> None:  # case H08
    count = iter(range(100))
    OmegaConf.register_new_resolver("count", lambda: next(count) + 1.5, replace=True)
    config = composed(tmp_path, "lexical.k1=${count:}")
    run, start = build(config)
    assert isinstance(run.lexical, Bm25)
    logged = start.config["lexical"]
    assert isinstance(logged, dict)
    assert run.lexical.k1 == logged["k1"] == config.lexical.k1 == 1.5
    assert OmegaConf.is_readonly(config)


@pytest.mark.parametrize("target", ["logging.os.system", "builtins.open", "subprocess.Popen"])
def test_build_with_a_foreign_target_is_refused(target: str, tmp_path: Path) -> None:  # case H13
    assert "outside glyphrank" in fault(tmp_path, f"lexical._target_={target}")


def test_build_with_a_choice_in_a_slot_it_does_not_fit_lists_those_that_do(tmp_path: Path) -> None:
    message = fault(tmp_path, "encoder@text=bm25_words")
    assert "text: Bm25 does not fit here, wanted TextEncoder; those that do: bge_m3, clip_folder, " in message
    assert "bm25" not in message.split("those that do:")[1].split("[")[0]


@pytest.mark.parametrize(
    ("overrides", "wanted"),
    [
        (["encoder@lexical=none"], "there is no channel"),
        (["ocr=none"], "channel 'lexical' needs text but ocr=none"),
        (["metrics=kopub_task2"], "channel 'lexical' sees text"),
        (["encoder@text=minilm", "~fusion.weights.lexical"], "channel 'lexical' has no weight"),
        (["runtime.device=gpu"], "wanted auto, cpu"),
        (["paths.cache=''"], "found an empty path"),
        (["on_bad_media=maybe"], "'keep' or 'error'"),
        (["+nonsense=1"], "nonsense: is unknown"),
        (["metrics=textvr"], "text of the source embedded is read by the ocr, but the metrics protocol allows"),
        (["metrics=textvr"], "allows published, scene only; choose another ocr, or metrics=pages or clips"),
        (["metrics=kopub_task1", "ocr=easyocr_en"], "text of the source scene is read by the ocr"),
        (["metrics=kopub_task1", "ocr=embedded_else_easyocr"], "text of the source scene is read by the ocr"),
        (["metrics=kopub_task1", "ocr=embedded_else_easyocr"], "the metrics protocol allows embedded, published only"),
        (["metrics=kopub_task1", "encoder@visual=clip_vit_b_32"], "channel 'visual' sees frames"),
        (["metrics.sources=[]"], "sources is []; wanted at least one"),
        (["metrics.sources=[subtitles]"], "'embedded', 'published' or 'scene'"),
        (["save_scores=yes"], "save_scores: found 'yes' (str), wanted a valid boolean"),
        (["plugins=bm25"], "plugins: found 'bm25' (str), wanted a valid array"),
    ],
)
def test_build_with_parts_that_do_not_go_together_says_why(overrides: list[str], wanted: str, tmp_path: Path) -> None:
    assert wanted in fault(tmp_path, *overrides)


@pytest.mark.parametrize(
    "overrides",
    [
        ["metrics=kopub_task1"],
        ["metrics=textvr", "ocr=easyocr_en"],
        ["metrics=textvr", "metrics.sources=[embedded]", "metrics.benchmark=null"],
        ["metrics=kopub_task2", "encoder@lexical=none", "encoder@visual=clip_vit_b_32"],
        # Nothing is read, so that it does not matter what the ocr would read.
        ["metrics=textvr", "encoder@lexical=none", "encoder@visual=clip_vit_b_32"],
    ],
)
def test_build_with_text_of_a_source_that_the_protocol_allows(overrides: list[str], tmp_path: Path) -> None:
    assert built(tmp_path, *overrides)[0].channels


def test_build_takes_relative_paths_from_the_folder_of_launch(tmp_path: Path) -> None:  # case H06
    run, _start = built(tmp_path, "dataset=folder", "dataset.root=pages", "paths.outputs=here")
    assert run.runtime.outputs == tmp_path / "here"
    assert run.runtime.cache == tmp_path / "here" / "cache"
    assert isinstance(run.dataset, Folder)
    assert run.dataset.root == tmp_path / "pages"


def test_build_names_what_overrides_gave_and_the_launch(tmp_path: Path) -> None:
    overrides = ("encoder@lexical=bm25_words", "lexical.k1=1.2", "+fusion.weights.own=1", "lexical.k1=2")
    _run, start = built(tmp_path, *overrides)
    assert start.named == ("paths.outputs", "encoder@lexical", "lexical.k1", "fusion.weights.own")
    assert (start.launch, start.off_host) == (HydraConfig.get().callbacks["sweep"]["launch"], False)


def test_build_knows_cells_that_may_run_on_another_machine(tmp_path: Path) -> None:
    config = composed(tmp_path, "tracking=none")
    hydra: Any = HydraConfig.get()
    with read_write(hydra), open_dict(hydra):
        hydra.mode = RunMode.MULTIRUN
        hydra.launcher._target_ = "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher"
    assert build(config)[1].off_host


def test_store_is_told_of_a_run_that_cannot_be_built(tmp_path: Path) -> None:  # case H02
    told, start = build_told(composed(tmp_path, "dataset=folder", "lexical.k1=often", "tracking.experiment=mine"))
    assert isinstance(told.tracking, Local)
    assert told.runtime.outputs == tmp_path / "outputs"
    assert start.config["dataset"] == {"_target_": "glyphrank.datasets.folder.Folder", "root": "???", "split": "test"}
    assert start.overrides[-2:] == ("lexical.k1=often", "tracking.experiment=mine")
    with pytest.raises(ConfigError, match="experiment"):
        build_told(composed(tmp_path, "tracking.experiment=''"))


def test_build_keeps_secrets_out_of_what_is_logged(tmp_path: Path) -> None:  # case L15
    _run, start = built(tmp_path, "paths.cache=/data/token", "tracking=none")
    assert start.overrides[-1] == "tracking=none"
    with pytest.raises(ConfigError) as caught:
        built(tmp_path, "+api_key=hunter2")
    assert "hunter2" not in str(caught.value)


def test_build_names_the_fields_that_are_not_as_their_choice_has_them(tmp_path: Path) -> None:
    _, start = built(
        tmp_path, "encoder@lexical=bm25_ngrams", "lexical.analyser.n=4", "metrics.cutoffs=[20]", "rerun=true"
    )
    assert set(start.changed) == {"lexical.analyser.n", "metrics.cutoffs"}
    assert built(tmp_path)[1].changed == ()
