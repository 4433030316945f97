"""What every test shares: random examples are the same in every run."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "seeded",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("seeded")
