"""The commands: each passes its options to ``rbdgen.api`` and reports as data and as text.

The imports of a command are made when it runs, so that the others need not wait for them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from .. import api
from ..system.quoting import Progress
from .board_command import board
from .options import WISHES, choices_of
from .output import Output, answer


def _info(options: argparse.Namespace, progress: Progress) -> Output:
    wishes = {name: getattr(options, name) for name in WISHES}
    return answer(api.info(options.robot, progress, **wishes, **choices_of(options)))


def _topology(options: argparse.Namespace, progress: Progress) -> Output:
    if options.output is not None:
        api.check_place(options.output)
    report = api.topology(
        options.robot,
        options.tolerance,
        options.turns,
        options.reroot,
        **choices_of(options),
    )
    if options.output is not None:
        api.topology_picture(report, options.output)
    return answer(report)


def _states(options: argparse.Namespace, progress: Progress) -> Output:
    drawn = api.states(
        options.robot, options.states, options.seed, progress=progress, **choices_of(options)
    )
    api.write_arrays(options.output, drawn)
    arrays = {name: list(array.shape) for name, array in drawn.items()}
    report = {"output": str(options.output), "seed": options.seed, "arrays": arrays}
    return Output(report, str(options.output))


def _evaluate(options: argparse.Namespace, progress: Progress) -> Output:
    api.check_place(options.output)
    results = api.evaluate(
        options.robot,
        api.read_arrays(options.input),
        options.model,
        progress=progress,
        **choices_of(options),
    )
    wrong = int(results["overflow"].any(axis=1).sum()) if "overflow" in results else 0
    api.write_arrays(options.output, results)
    report = {
        "output": str(options.output),
        "model": options.model,
        "arrays": {name: list(array.shape) for name, array in results.items()},
        "overflowed": wrong,
    }
    if wrong:
        print(f"rbdgen: {wrong} states overflowed; see overflow in the output", file=sys.stderr)
    return Output(report, "")


def _fit(options: argparse.Namespace, progress: Progress) -> Output:
    found = api.fit(
        options.robot,
        api.read_arrays(options.states),
        options.margin,
        options.output,
        progress,
        **choices_of(options),
    )
    return Output(found.to_json(), found.as_text())


def _generate(options: argparse.Namespace, progress: Progress) -> Output:
    found = api.generate(
        options.robot,
        options.output,
        progress=progress,
        force=options.force,
        to=options.to,
        **{name: getattr(options, name) for name in WISHES},
        **choices_of(options),
    )
    places = found if isinstance(found, tuple) else (found,)
    reports = [{"path": str(place), **api.read_manifest(place)} for place in places]
    report = {"designs": reports} if isinstance(found, tuple) else reports[0]
    wanted = [own["wanted"] for own in reports if "wanted" in own]
    lines = [*map(str, places), *(own["line"] for own in wanted)]
    return Output(report, "\n".join(lines), int(not all(own["reach"] for own in wanted)))


def _explore(options: argparse.Namespace, progress: Progress) -> Output:
    report = api.explore(
        options.robot,
        options.output,
        intervals=options.ii or (),
        widths=options.widths or (),
        folds=options.fold or (),
        synthesis=not options.no_synthesis,
        quick=options.quick,
        jobs=options.jobs,
        executor=options.executor,
        executor_options=dict(options.executor_option),
        force=options.force,
        progress=progress,
        **{**choices_of(options), "ii": None, "fold": None},
    )
    return answer(report)


def _compare(options: argparse.Namespace, progress: Progress) -> Output:
    from rbdgen_benchmarks.compare.comparison import compare

    if options.output is not None:
        api.check_place(options.output)
    report = compare(
        options.robot,
        options.design,
        progress=progress,
        trust=options.trust,
        cpu=options.cpu,
        pinocchio=options.pinocchio,
        **({"intervals": options.ii} if options.ii else {}),
        **{**choices_of(options), "ii": None},
    )
    if options.output is not None:
        page = options.output.suffix == ".html"
        api.write_file(options.output, report.page(options.typed) if page else report.svg())
    return answer(report)


def _simulate(options: argparse.Namespace, progress: Progress) -> Output:
    report = api.simulate(
        options.folder,
        options.states,
        options.seed,
        progress=progress,
        trust=options.trust,
        calibration=options.calibration,
    )
    return Output(report, report.as_text())


def _waves(options: argparse.Namespace, progress: Progress) -> Output:
    return answer(api.waves(options.folder, options.tasks, options.seed, progress, options.trust))


def _loop(options: argparse.Namespace, progress: Progress) -> Output:
    report = api.loop(
        options.folder,
        options.rate,
        options.seconds,
        options.late,
        options.load,
        options.push,
        options.noise,
        options.seed,
        options.drop,
        progress=progress,
        trust=options.trust,
    )
    return answer(report)


def _calibrate(options: argparse.Namespace, progress: Progress) -> Output:
    found = api.calibrate(options.folder, options.robot, options.output, progress, options.trust)
    return Output(found.to_json(), f"{found.as_text()}: {options.output}")


def _synthesize(options: argparse.Namespace, progress: Progress) -> Output:
    report = api.synthesize(
        options.folder,
        options.target,
        options.place_and_route,
        speeds=options.speed or (),
        seeds=options.seed or range(1, options.seeds + 1),
        frequency=options.frequency,
        progress=progress,
        placer=options.placer,
        router=options.router,
        floorplanned=options.floorplanned,
        trust=options.trust,
        jobs=options.jobs,
        executor=options.executor,
        executor_options=dict(options.executor_option),
    )
    missed = bool(getattr(report.facts, "missed", False))  # what was wanted; not of what is mapped
    return answer(report)._replace(status=int(missed))


def _energy(options: argparse.Namespace, progress: Progress) -> Output:
    report = api.energy(
        options.folder,
        options.states,
        options.seed,
        options.frequency,
        options.rate,
        progress=progress,
        trust=options.trust,
    )
    return answer(report)._replace(status=int(report.facts.missed))


def _report(options: argparse.Namespace, progress: Progress) -> Output:
    page = api.report(options.folder, progress, options.trust)
    return Output({"page": str(page)}, str(page))


def _package(options: argparse.Namespace, progress: Progress) -> Output:
    more = {}
    if options.frequency is not None:
        if options.kind != "vivado":
            raise api.UsageError(
                f"frequency: of package vivado, not of {options.kind}; leave it out"
            )
        more["frequency"] = options.frequency
    write = getattr(api, f"package_{options.kind}")
    made, notes = write(options.folder, progress, options.trust, **more)
    lines = [str(made), *(f"note: {note}" for note in notes)]
    return Output({"file": str(made), "notes": notes}, "\n".join(lines))


def _completion(options: argparse.Namespace, progress: Progress) -> Output:
    from .parser import parser

    try:
        import shtab
    except ImportError:
        raise api.UsageError(
            'no shtab to complete with: pip install "rbdgen[completion]"'
        ) from None
    text = shtab.complete(parser(), options.shell)
    return Output({"shell": options.shell, "script": text}, text)


def _doctor(options: argparse.Namespace, progress: Progress) -> Output:
    from ..api.doctor import as_text, doctor

    health = doctor()
    return Output(health.to_json(), as_text(health))


def _robots(options: argparse.Namespace, progress: Progress) -> Output:
    from ..api.robots import as_text, robots

    found = robots()
    return Output(found.to_json(), as_text(found))


def _demo(options: argparse.Namespace, progress: Progress) -> Output:
    from rbdgen_benchmarks.bench.demo import demo

    return Output(demo(Path(options.output), progress), "")


def _bench(options: argparse.Namespace, progress: Progress) -> Output:
    from rbdgen_benchmarks.bench.measurements import bench, listed, there_are

    from ..api.parallel import at_a_time, executor_of

    if not options.names:
        return Output({"measurements": there_are()}, listed())
    place, given = Path(options.output), dict(options.executor_option)
    executor = executor_of(options.executor, place / "jobs", given)
    if options.jobs and executor is None:
        raise api.InputError("jobs: measurements run one by one; name an --executor")
    if options.only and executor:
        raise api.InputError("--only: jobs are whole measurements; leave out --executor")
    jobs = at_a_time(options.jobs, executor, 1)
    return Output(bench(options.names, place, progress, executor, jobs, options.only), "")


def _reproduce(options: argparse.Namespace, progress: Progress) -> Output:
    from rbdgen_benchmarks.reproduce.papers import reproduce

    place = Path(options.output)
    found = reproduce(options.papers, place, options.full, options.closed, progress)
    return Output(found, "")


COMMANDS: dict[str, Callable[[argparse.Namespace, Progress], Output]] = {
    "info": _info,
    "topology": _topology,
    "states": _states,
    "evaluate": _evaluate,
    "fit": _fit,
    "generate": _generate,
    "explore": _explore,
    "compare": _compare,
    "simulate": _simulate,
    "waves": _waves,
    "loop": _loop,
    "calibrate": _calibrate,
    "synthesize": _synthesize,
    "energy": _energy,
    "report": _report,
    "board": board,
    "package": _package,
    "completion": _completion,
    "doctor": _doctor,
    "robots": _robots,
    "demo": _demo,
    "bench": _bench,
    "reproduce": _reproduce,
}
