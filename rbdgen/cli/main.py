"""The command line: arguments, progress, what is printed, how it ends; the work is in ``api``."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from ..system.quoting import lines, printable
from ..system.signals import LINE, interruptible, leave, stop_at_once

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

NEW_OBJECTS = 100_000  # until unreachable ones are looked for; Python's own choice is 700


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: 0; or one line on standard error and 2 for what was typed wrong, 1 for
    what went wrong, 130, 143 or 129 for SIGINT, SIGTERM and SIGHUP.

    Without ``arguments``, those of the process, which is to end then.
    """
    if arguments is not None:
        return _run(arguments)
    for stream in (sys.stdout, sys.stderr):  # none may be a console that has ASCII alone
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    stop_at_once()  # imports come next, and some take a while
    # A graph is many objects that stay: looking through them all again and again for unreachable
    # ones took a fifth of the time of a large robot.
    gc.set_threshold(NEW_OBJECTS)
    status = _run(sys.argv[1:])
    if status > 128:
        leave(status)
    return status


def _run(arguments: Sequence[str]) -> int:
    import json
    import shlex
    from contextlib import redirect_stdout
    from io import StringIO

    from .arguments import USAGE
    from .parser import parser

    options = parser().parse_args(arguments)
    options.typed = shlex.join(["rbdgen", *arguments])
    from ..system.quoting import Refusal
    from .commands import COMMANDS  # which is more than help needs

    say = _silent if options.quiet else progress()
    try:
        with interruptible():
            _look(options)
            if options.json:
                # what is printed on the way
                with redirect_stdout(StringIO() if options.quiet else sys.stderr):
                    answer = COMMANDS[options.command](options, say)
                print(json.dumps(answer.report, indent=2), flush=True)
            else:
                answer = COMMANDS[options.command](options, say)
                print(lines(answer.text), end="\n" if answer.text else "", flush=True)
        return answer.status
    except Refusal as error:
        print(f"rbdgen: {printable(str(error))}", file=sys.stderr)
        usage = error.usage or _typed(getattr(error, "name", None), options)
        return USAGE if usage else 1
    except ModuleNotFoundError as missing:
        tool = (missing.name or "").partition(".")[0]
        if tool in ("", "rbdgen"):
            raise
        print(
            f"rbdgen: {tool} is not installed, and {options.command} needs it; "
            "pip install 'rbdgen[scheduling,synthesis,simulation]'",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt as stop:
        print(LINE, file=sys.stderr)
        return getattr(stop, "status", 130)
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 1


def _look(options: Namespace) -> None:
    """Refusal for a robot or a design that is not there, before the imports of what needs it; a
    robot that comes on standard input is read, once."""
    from pathlib import Path

    from ..api.folder import read_manifest
    from ..design.loading import locate
    from ..robot.sources import STANDARD_INPUT, received

    if getattr(options, "robot", None) == STANDARD_INPUT:
        options.robot = str(received(sys.stdin.buffer))
    if hasattr(options, "robot"):
        locate(options.robot)
    elif getattr(options, "folder", None) is not None:
        if options.command == "board" and not Path(options.folder).is_dir():
            locate(options.folder)  # a robot
        else:
            entry = read_manifest(Path(options.folder))
            if getattr(options, "kind", None) not in ("python", "ros2"):  # which are of C++
                entry.refuse_program()
    elif hasattr(options, "names"):
        from rbdgen_benchmarks.bench.names import chosen

        chosen(options.names, options.only)


def _typed(name: str | None, options: Namespace) -> bool:
    """Whether what is missing is what was named, not something in it."""
    return any(
        name in (map(str, value) if isinstance(value, list) else (str(value),))
        for value in vars(options).values()
    )


def _silent(line: str) -> None:
    pass


def progress() -> Callable[[str], None]:
    """Lines on standard error, each with the seconds since the start."""
    import time

    started = time.monotonic()

    def say(line: str) -> None:
        print(
            f"[{time.monotonic() - started:6.1f} s] {printable(line)}", file=sys.stderr, flush=True
        )

    return say
