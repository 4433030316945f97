"""The tool's own time, on a pendulum: every row is a command that runs; how long is not asked."""

from pathlib import Path

import pytest

from rbdgen.api import InputError
from rbdgen_benchmarks.bench import tool_latency
from rbdgen_benchmarks.bench.tool_latency import Took, _Session


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_latency, "ROBOT", "pendulum")
    monkeypatch.setattr(tool_latency, "II", 16)
    monkeypatch.setattr(tool_latency, "TRIES", 1)
    monkeypatch.setattr(tool_latency, "LARGE", ("pendulum", {"functions": ("m",)}))


def sensible(took: Took) -> bool:
    return took.seconds > 0 and took.cpu > 0


@pytest.mark.usefixtures("small")
def test_commands_that_answer_at_once(tmp_path: Path) -> None:
    said: list[str] = []
    found = tool_latency._at_once(tmp_path, said.append)
    assert list(found) == [f"rbdgen {' '.join(words)}" for words, _ in tool_latency.AT_ONCE]
    assert all(map(sensible, found.values()))
    assert said == [f"-m {command}" for command in found]


@pytest.mark.usefixtures("small")
def test_a_front_end(tmp_path: Path) -> None:
    ((what, took),) = tool_latency._large(tmp_path, lambda _: None).items()
    assert what == "front_end(\"pendulum\", functions=('m',))" and sensible(took)


def test_what_ends_otherwise_is_no_row(tmp_path: Path) -> None:
    session = _Session(tmp_path, lambda _: None)
    with pytest.raises(InputError, match="iiwa15"):
        session.command("info", "iiwa15")
    with pytest.raises(InputError, match="exit status 0"):
        session.command("--version", status=2)
    with pytest.raises(InputError, match="no_such_robot"):
        session.call("rbdgen.compile.flow", "front_end", "no_such_robot")


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is printed, and nothing stays behind."""
    rows = tool_latency.tool(tmp_path, lambda _: None)
    printed = capsys.readouterr().out
    assert len(rows) == len(tool_latency.AT_ONCE) + 6
    assert all(row["CPU s"] > 0 and f"\n{row['what']} " in printed for row in rows)
    assert not list(tmp_path.iterdir())
