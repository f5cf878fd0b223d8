"""The cells that Hydra's sweeper would start, without starting them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import OmegaConf

from command import corpus
from glyphrank.composition import config_folder, register_resolvers
from glyphrank.errors import ConfigError
from glyphrank.planned_cells import plan_here, plan_of_sweep
from glyphrank.report.planned import Plan

HERE = ("dataset=folder", "dataset.root=data", "tracking=none")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The launch's, with a dataset of one page; overlays of one's own lie in `mine`."""
    corpus(tmp_path / "data", [{"id": "p", "text": "words"}], [{"id": "x", "text": "words"}], ["x\tp\t1"])
    (tmp_path / "mine" / "experiment").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", "outputs")
    return tmp_path


def swept(plan: Plan) -> list[list[str]]:
    """What differs between the cells."""
    return [[text for text in cell.overrides if text not in HERE] for cell in plan.cells]


def experiment(folder: Path, name: str, *lines: str) -> None:
    text = "\n".join(["# @package _global_", *lines, ""])
    (folder / "mine" / "experiment" / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_choices_and_ranges_give_one_cell_for_each_combination() -> None:
    plan = plan_here(
        [*HERE, "lexical.k1=0.5,1.5", "transcript.order=choice(source,reading)", "runtime.batch_size=range(1,3)"]
    )
    assert len(plan.cells) == 8
    assert swept(plan)[1] == ["lexical.k1=0.5", "transcript.order=source", "runtime.batch_size=2"]
    assert [stage.cells for stage in plan.stages] == [tuple(range(8))] * 2


def test_a_glob_over_choices_sees_those_of_a_folder_of_ones_own(folder: Path) -> None:
    (folder / "mine" / "encoder").mkdir()
    own = (config_folder() / "encoder" / "bm25_words.yaml").read_text()
    (folder / "mine" / "encoder" / "bm25_own.yaml").write_text(own)
    plan = plan_here([*HERE, "encoder@lexical=glob(bm25_*,exclude=*korean)"], folder / "mine")
    assert [texts[0].partition("=")[2] for texts in swept(plan)] == ["bm25_ngrams", "bm25_own", "bm25_words"]


def test_a_sweep_in_an_experiment_is_planned_and_the_command_line_comes_first(folder: Path) -> None:
    experiment(
        folder, "both", "hydra:", "  sweeper:", "    params:", "      lexical.k1: 0.5,1.5", "      lexical.b: 0.1,0.2"
    )
    plan = plan_here([*HERE, "experiment=both", "lexical.b=0.3"], folder / "mine")
    assert swept(plan) == [[f"lexical.k1={k1}", "lexical.b=0.3", "experiment=both"] for k1 in ("0.5", "1.5")]
    assert plan.notes == ()


def test_sweeps_inside_swept_experiments_are_passed_over_and_this_is_said(folder: Path) -> None:
    experiment(folder, "one", "hydra:", "  sweeper:", "    params:", "      lexical.k1: 0.5,1.5")
    experiment(folder, "two", "lexical: {k1: 2.0}")
    plan = plan_here([*HERE, "experiment=one,two"], folder / "mine")
    assert swept(plan) == [["experiment=one"], ["experiment=two"]]
    assert "Hydra does not sweep what they hold (lexical.k1)" in plan.notes[0]


def test_a_cell_that_cannot_be_composed_or_built_is_named_and_others_are_planned() -> None:
    plan = plan_here([*HERE, "encoder@lexical=bm25_words,minilm,nonsense"])
    assert plan.is_faulty
    assert plan.cells[0].faults == ()
    assert "SentenceTransformer does not fit here" in plan.cells[1].faults[0]
    assert "nonsense" in plan.cells[2].faults[0]


def test_what_hydra_refuses_as_a_whole_is_refused() -> None:
    with pytest.raises(ConfigError, match="nonsense"):
        plan_here([*HERE, "nonsense=1"])
    with pytest.raises(ConfigError, match="inner quotes"):
        plan_here([*HERE, "runtime.device=한국어"])  # case H01
    with pytest.raises(ConfigError, match="no such folder"):
        plan_here([*HERE], Path("nowhere"))
    with pytest.raises(ConfigError, match="does not support sweep type"):
        plan_here([*HERE, "lexical.k1=interval(0,1)"])


def test_a_secret_in_an_override_is_not_told() -> None:  # case L15
    plan = plan_here([*HERE, "+text.api_key=hush-hush,other-hush"])
    assert "hush" not in str(plan)


def test_a_launcher_that_is_not_installed_does_not_matter(folder: Path) -> None:
    plan = plan_here([*HERE, "hydra/launcher=of_another_site", "hydra.launcher.n_jobs=4", "lexical.k1=1,2"])
    assert len(plan.cells) == 2
    experiment(folder, "away", "defaults:", "  - override /hydra/launcher: of_another_site")
    assert len(plan_here([*HERE, "experiment=away"], folder / "mine").cells) == 1


def test_of_a_sweeper_that_chooses_as_it_goes_what_is_fixed_is_planned() -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    plan = plan_here([*HERE, "hydra/sweeper=optuna", "hydra.sweeper.n_trials=7", "lexical.k1=interval(0.5,2)"])
    assert swept(plan) == [[]]
    assert "OptunaSweeper chooses its 7 cells as it goes" in plan.notes[0]
    assert "lexical.k1=interval(0.5,2)" in plan.notes[0]


def test_what_such_a_sweeper_is_told_twice_counts_once_and_what_is_fixed_is_not_chosen(folder: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    params = (
        "hydra:",
        "  sweeper:",
        "    params:",
        "      lexical.k1: choice(1,2)",
        "      lexical.b: choice(0.5,0.7)",
    )
    experiment(folder, "searched", *params)
    asked = ("hydra/sweeper=optuna", "experiment=searched", "lexical.k1=choice(3,4)", "lexical.b=0.6")
    plan = plan_here([*HERE, *asked], folder / "mine")
    assert plan.notes[0].endswith("(lexical.k1=choice(3,4))")
    assert swept(plan) == [["experiment=searched", "lexical.b=0.6"]]


def test_planning_a_sweep_disturbs_neither_its_config_nor_hydras_current_job() -> None:
    register_resolvers()
    current = HydraConfig.instance()
    before = current.cfg
    with initialize_config_dir(str(config_folder()), version_base="1.3", job_name="glyphrank"):
        asked = ["hydra.mode=MULTIRUN", *HERE, "lexical.k1=1,2"]
        config = GlobalHydra.instance().config_loader().load_configuration("config", asked, run_mode=RunMode.MULTIRUN)
        untouched = copy.deepcopy(config)
        plan = plan_of_sweep(config)
    assert len(plan.cells) == 2
    assert config == untouched
    assert not OmegaConf.is_readonly(config)
    assert current.cfg is before
