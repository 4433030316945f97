"""The table of energies that ships is what the measurement makes of the designs that it has."""

from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.design import energy
from rbdgen_benchmarks.bench import energies
from rbdgen_benchmarks.bench.clocks import page, words


def test_what_was_counted_is_not_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All designs are in the table, and nobody has edited a coefficient of it."""

    def simulated(*_: Any, **__: Any) -> None:
        raise AssertionError("a design that the table has")

    monkeypatch.setattr(api, "generate", simulated)
    found = energies.energies(tmp_path, lambda _: None)
    assert {one["design"] for one in found["designs"]} == {words(*own) for own in energies.DESIGNS}
    assert found == energy.fitted()
    text = (tmp_path / "energies" / "energy.json").read_text("utf-8")
    assert text == page(found) == energy.TABLE.read_text("utf-8")
    printed = capsys.readouterr().out
    assert "pendulum --target ecp5-85f --function id,m --ii 2" in printed
    least, most = energy.extent(found["models"][energy.BUSY])
    assert f"busy: printed as {least:.2f} to {most:.2f} times that" in printed
    assert 0 < least < 1 < most


def test_a_design_is_generated_mapped_and_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that the table has not, with the energies of `energy` beside features of its plan."""
    own = energies.CountedDesign.from_json(energy.fitted()["designs"][0])

    class Facts:
        facts = own

    monkeypatch.setattr(api, "energy", lambda *_, **__: Facts)
    monkeypatch.setattr(energies, "DESIGNS", (("pendulum", {"ii": 1, "target": "ecp5-85f"}),))
    monkeypatch.setattr(energies, "_shipped", tuple)
    monkeypatch.setattr(energies, "fitted_to", lambda designs: {"designs": list(designs)})
    monkeypatch.setattr(energies, "page", lambda _: "")
    (found,) = energies.energies(tmp_path, lambda _: None)["designs"]
    assert found == own
    monkeypatch.delattr(api, "energy")  # kept for the next run
    assert energies.energies(tmp_path, lambda _: None)["designs"] == [own]
