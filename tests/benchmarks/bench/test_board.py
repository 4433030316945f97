"""The key by which the parts of the board's measurement are cached."""

from pathlib import Path

from rbdgen_benchmarks.bench.board import DRIVER, HERE, _of


def test_the_key_of_a_part_depends_on_the_folder_and_on_files_that_are_there(
    tmp_path: Path,
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    first = _of(tmp_path)
    assert first == _of(tmp_path)
    manifest.write_text('{"name": "other"}')
    assert first != _of(tmp_path)
    assert DRIVER.is_dir() and all(file.is_file() for file in HERE)
