"""A core is an accelerator of one stage, without slots."""

from __future__ import annotations

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.schedule.fold import WAKING
from rbdgen.tasks.latency import latency_of, longest_latency


def test_functions_read_what_their_results_follow_from() -> None:
    core = compile_front(front_end("pendulum", functions=("id", "m", "fd"), target="xcup"))
    one = core.accelerator
    assert one.functions == ("id", "m", "fd")
    assert list(one.formats["m"]) == ["q[1]"]
    assert list(one.formats["id"]) == [
        f"{kind}[{k}]" for kind in ("q", "qd", "qdd") for k in (0, 1)
    ]
    assert {name[:3] for name in one.formats["fd"]} == {"q[0", "q[1", "qd[", "tau"}
    assert one.results["m"] == ("M[0,0]", "M[1,0]", "M[1,1]")
    assert list(one.words) == list(core.fixed.graph.inputs)
    assert one.result_words == len(core.fixed.graph.outputs) == 7
    for function in one.functions:
        assert (latency_of(one, function), one.interval(function)) == (core.plan.latency, 1)
        assert [str(visit) for visit in one.route(function)] == list(one.stages) == ["core"]
    assert one.multipliers == core.plan.multipliers


def test_the_longest_way_of_a_task_that_comes_in_any_cycle() -> None:
    shared = compile_front(front_end("pendulum", target="xcup", width=12, ii=4))
    own = shared.accelerator
    assert longest_latency(own, "id") == shared.plan.latency + WAKING
    alone = compile_front(front_end("pendulum", target="xcup", width=12, ii=1)).accelerator
    assert longest_latency(alone, "id") == latency_of(alone, "id")
    whole = compile_front(
        front_end("pendulum", functions=("id",), target="xcup", accelerator=True, ii=4)
    ).accelerator
    most = sum(whole.stages[visit.stage].takes_every - 1 for visit in whole.ordered("id"))
    assert (
        most
        and latency_of(whole, "id") < longest_latency(whole, "id") <= latency_of(whole, "id") + most
    )
