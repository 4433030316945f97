"""The digests of generated designs: of a pendulum's, made once, and compared with changed ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.generated_digests import Case, Row, compared, differences, main, read, written

ASKED = ["--robots", "pendulum", "--functions", "m", "--ways", "auto", "--languages", "c", "cpp"]
MASSES = "pendulum m auto c"


def test_rows_are_read_back_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now, before = tmp_path / "now.jsonl", tmp_path / "before.jsonl"
    assert main([*ASKED, "-o", str(now)]) == 0
    package, rows = read(now)
    assert sorted(rows) == [MASSES, "pendulum m auto cpp"]
    assert all(len(own.bits) == 64 and own.counts and own.files for own in rows.values())
    capsys.readouterr()

    assert main([*ASKED, "-o", str(now), "--compare", str(now)]) == 0
    said = capsys.readouterr()
    assert said.out == "2 rows: 2 same\n"
    assert not said.err  # what is in the file is not generated again

    own = rows[MASSES]
    changed = replace(own, counts=own.counts | {"latency": {"m": 3}})
    before.write_text(f'{{"package": "{package}"}}\n{written(MASSES, changed)}')
    assert main([*ASKED, "-o", str(now), "--compare", str(before)]) == 1
    latency = own.counts["latency"]
    assert capsys.readouterr().out.splitlines() == [
        "pendulum m auto cpp: new",
        f"{MASSES}: counts: latency {{'m': 3}} → {latency}",
        "2 rows: 1 counts, 1 new",
    ]

    before.write_text(before.read_text().replace(package, "another"))
    with pytest.raises(SystemExit, match="another state"):
        main([*ASKED, "-o", str(before)])


def test_hardware_is_digested_as_rtlil() -> None:
    ((name, own),) = Case("pendulum", ("m",), "ii4", ("verilog",)).rows()
    assert name == "pendulum m ii4 verilog"
    assert {"NAME.il", "manifest.json", "graph.txt"} <= own.files.keys()
    assert not any(file.endswith(".v") for file in own.files)
    assert own.counts["interval"] == {"m": 4}
    assert own.counts["luts"] > 0


def test_a_refusal_is_a_row() -> None:
    rows = dict(Case("pendulum", ("id",), "limbs", ("c", "hls")).rows())
    assert {own.refused for own in rows.values()} == {
        "pendulum: fold: limbs: there is one limb: one joint of the base carries all others"
    }


def test_kinds_of_change() -> None:
    row = Row({"NAME.c": "1", "NAME.h": "2"}, "3", {"mul": 4})
    assert differences(row, row) == []
    assert differences(row, replace(row, bits="")) == ["bits"]
    assert differences(row, replace(row, files={"NAME.c": "1"})) == ["bytes: NAME.h"]
    assert differences(row, Row(refused="no")) == ["refusal: none → no"]
    after = replace(row, counts={"mul": 5}, files={"NAME.c": "0", "NAME.h": "2"})
    assert differences(row, after) == ["counts: mul 4 → 5", "bytes: NAME.c"]
    bytes_only = replace(row, files={"NAME.c": "0"})
    assert compared({"a": row}, {"a": bytes_only})[1] is False
    assert compared({"a": row}, {"a": after})[1] is True
    assert compared({"a": row}, {"a": after})[0][-1] == "1 rows: 1 bytes and counts"
