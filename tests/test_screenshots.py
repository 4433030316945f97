"""A page that is cut, too wide or too small to read is seen as such, and no other one."""

from pathlib import Path

import pytest

from tests.screenshots import browser_there, measured, write

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="40" viewBox="0 0 {0} 40">'
    '<text x="4" y="30" font-size="{1}">letters</text></svg>'
)
PAGE = "<!doctype html><meta name=viewport content='width=device-width'><article>{}</article>"
FAULTS = {
    "<p style='width: 700px'>wide</p>": "ends at",
    "<div style='overflow: auto'><p style='width: 700px'>scrolls</p></div>": "",
    "<div style='overflow: hidden; width: 90px'><p style='width: 200px'>hidden</p></div>": "is cut",
    "<p><small style='font-size: 8px'>small</small></p>": "letters of 8.0 px",
    "<p><img src='large.svg' style='width: 200px'></p>": "letters of 8.0 px",
    "<p><img src='small.svg' style='max-width: 100%'></p>": "",
    "<p style='display: none; font-size: 3px'>not shown</p>": "",
    "<p style='color: #888'>pale</p>": "a contrast of 3.54",
    "<div style='background: #2228'><p style='color: #888'>on grey</p></div>": "a contrast of",
    "<div style='background: #222'><p style='color: #999'>on black</p></div>": "",
}


@pytest.mark.skipif(not browser_there(), reason="chromium is not installed")
def test_faults_are_seen(tmp_path: Path) -> None:
    (tmp_path / "large.svg").write_text(SVG.format(300, 12))
    (tmp_path / "small.svg").write_text(SVG.format(300, 10))
    for k, body in enumerate(FAULTS):
        (tmp_path / f"{k}.html").write_text(PAGE.format(body))
    seen = measured(tmp_path, [f"{k}.html" for k in range(len(FAULTS))], widths=(400,))
    for page, (body, fault) in zip(seen, FAULTS.items(), strict=True):
        assert page.width == 400 and page.height > 0
        assert bool(page.faults) == bool(fault), (body, page.faults)
        assert fault in "; ".join(page.faults), body
    write(tmp_path / "pictures", seen[:1], tmp_path)
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names == ["0-400-dark.png", "0-400-light.png"]
