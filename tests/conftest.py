"""What every test shares: random examples are the same in every run, and long tests are marked."""

import gc

import pytest
from hypothesis import HealthCheck, settings

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
