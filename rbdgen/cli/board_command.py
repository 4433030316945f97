"""The command ``board``: bitstreams of accelerators, and boards that are simulated or checked."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import monotonic
from typing import Any

from .. import api
from ..design.functions import WHOLE
from ..system.quoting import Progress
from .options import choices_of
from .output import Output, answer


def board(options: argparse.Namespace, progress: Progress) -> Output:
    """``rbdgen board``: list boards, make a bitstream, simulate a board or check one."""
    from ..shell.build import LEDS
    from ..shell.catalog import find_board, listed

    if options.list:
        return Output({"boards": listed()}, "\n".join(listed()))
    if options.board is None or options.folder is None:
        raise api.UsageError(
            "board: which one, and of which folder or robot: rbdgen board BOARD DIR; --list"
        )
    if not (options.simulate or options.check):
        return _bitstream(options, progress)
    # before the accelerator is made
    find_board(options.board, LEDS, options.link)
    if not options.simulate and options.port is None:
        raise api.UsageError("board: --check: where is it: --port /dev/ttyUSB0, or --simulate")
    place, trust = _board_folder(options, progress), options.trust
    if options.simulate:
        with api.simulated_board(
            options.board, place, progress, trust, link=options.link, ip=options.ip
        ) as running:
            if options.check:
                from rbdgen_host.driver.links import SIMULATED
                from rbdgen_host.driver.ports import opened

                return _checked(options, place, opened(running.port, SIMULATED), progress)
            print(running.port, flush=True)
            progress("until Ctrl-C")
            running.wait()
        return Output({"cycles": running.cycles}, f"{running.cycles} cycles")
    return _checked(options, place, options.port, progress)


def _bitstream(options: argparse.Namespace, progress: Progress) -> Output:
    from ..api.on_board import ACCELERATOR, board_for, steps_to

    board_for(options.board, options.folder, options.link, options.load, options.flash)
    made, started = not Path(options.folder).is_dir(), monotonic()
    with steps_to(progress, made, options.load or options.flash) as steps:
        if made:
            steps.begin(ACCELERATOR)
        place = _board_folder(options, steps)
        report = api.board(
            options.board,
            place,
            options.seeds,
            options.frequency,
            options.load,
            steps,
            options.trust,
            options.link,
            options.ip,
            options.placer,
            options.router,
            before={"generate": monotonic() - started} if place != options.folder else {},
            flash=options.flash,
        )
    return answer(report)


def _board_folder(options: argparse.Namespace, progress: Progress) -> str:
    """The folder of an accelerator: one that is named, or of the core or robot that is named."""
    said = choices_of(options)
    folder: str = options.folder
    wishes = {"latency": options.latency, "rate": options.rate}
    if Path(folder).is_dir():
        if said or any(wishes.values()) or options.output is not None:
            raise api.UsageError(f"{folder}: is a folder, whose design has its choices already")
        return str(api.accelerator_of(folder, progress, options.trust))
    said.setdefault("functions", WHOLE)
    made = api.board_design(
        options.board, folder, options.output, progress, options.force, **wishes, **said
    )
    return str(made)


def _checked(options: argparse.Namespace, place: str, port: Any, progress: Progress) -> Output:
    from rbdgen_host.driver.checking import check_board

    states = options.states or (1000 if options.simulate else 100_000)
    equal = check_board(place, port, states, progress=progress, trust=options.trust)
    return Output({"results": equal}, f"{equal} results, every bit equal")
