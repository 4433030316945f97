"""What every test shares: random examples are the same in every run, long tests are marked, and
Yosys writes the Verilog of one text once."""

import gc
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, settings

from rbdgen.shell import emit
from tests.durations import PLACE, listed, names

settings.register_profile(
    "seeded",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("seeded")


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    long = listed(PLACE.read_text()).keys()
    for item in items:
        if not long.isdisjoint(names(item)):
            item.add_marker(pytest.mark.seconds)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Tests and the graphs that they keep stay: Python looks through them for what nobody reaches
    less often, which took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def verilog_once() -> None:
    """Small designs are generated again and again. That Yosys writes the same in every process is
    tested by processes, which know nothing of this."""
    emit.to_verilog = lru_cache(64)(emit.to_verilog)
