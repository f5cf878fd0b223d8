"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# How long an example takes says more about a shared machine than about the code.
settings.register_profile("glyphrank", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("glyphrank")

ROOT = Path(__file__).parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Files are handed to the processes of pytest-xdist in the order of `pytest_collection_modifyitems`."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files come first: one that is begun last leaves the other processes without work."""
    items.sort(key=lambda item: "end_to_end" not in item.path.parts)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs beside the checkout; the test is skipped where there is none."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real inputs of ../shared/data are not here")
    return folder
