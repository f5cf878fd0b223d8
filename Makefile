# make quickstart: see it work; make test: all tests; make check: style and types. Each makes .venv on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
export HF_HUB_OFFLINE ?= 1

.PHONY: install quickstart test expected check format docs benchmark clean

install: .venv/.installed

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[samples,offline,dev]'
	touch $@

quickstart: .venv/.installed
	$(BIN)/glyphrank quickstart

test: .venv/.installed
	$(BIN)/python -m pytest -n auto --dist loadfile

# The samples give the numbers that benchmarks/expected/ holds.
expected: export GLYPHRANK_OUTPUTS ?= outputs/expected
expected: .venv/.installed
	$(BIN)/glyphrank quickstart
	$(BIN)/glyphrank run -m experiment=sample_clips
	$(BIN)/glyphrank compare --expected quickstart.yaml quickstart_clips.yaml sample_clips.yaml

check: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/python docs/make_configs.py --check

format: .venv/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# docs/configs.md, from conf/, experiments/ and the classes.
docs: .venv/.installed
	$(BIN)/python docs/make_configs.py

benchmark: .venv/.installed
	$(BIN)/python benchmarks/cell.py
	$(BIN)/python benchmarks/cached_cell.py
	$(BIN)/python benchmarks/cached_cell_parts.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/cold_process.py
	$(BIN)/python benchmarks/ranks.py
	$(BIN)/python benchmarks/lists.py
	$(BIN)/python benchmarks/bootstrap.py
	$(BIN)/python benchmarks/comparing.py
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/frames.py
	$(BIN)/python benchmarks/scene_text.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/corpus_memory.py --counts 200 2000
	$(BIN)/python benchmarks/sharing.py
	$(BIN)/python benchmarks/sample_significance.py --card outputs/scene_card.md
	$(BIN)/python benchmarks/gpu_check.py --pages 24 --clips 4

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
