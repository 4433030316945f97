"""What is compiled is one type: stages, of which a core is one without slots."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.api.integer_model import integer_results
from rbdgen.api.stimulus import inputs_of, within_limits
from rbdgen.compile.accelerator_area import accelerator_features
from rbdgen.compile.product import Product, luts_of, need_of
from rbdgen.schedule.features import features
from tests.support.made import accelerated, compiled


@pytest.fixture(scope="module")
def core() -> Product:
    return compiled("pendulum", functions=("id", "m"), target="xcup")


@pytest.fixture(scope="module")
def stages() -> Product:
    return accelerated("pendulum", functions=("id", "m"), target="xcup")


def test_a_task_of_a_core_computes_all_functions(core: Product, stages: Product) -> None:
    assert list(core.accelerator.tasks) == [""] and list(core.graphs) == [""]
    assert list(stages.accelerator.tasks) == ["id", "m"]
    assert list(stages.graphs) == list(stages.accelerator.stages)
    for made in (core, stages):
        inputs = inputs_of(made, within_limits(made, 20, 1))
        found = {task: integer_results(made, words, task) for task, words in inputs.items()}
        outputs = {name for results, _ in found.values() for name in results}
        assert outputs == {"tau[0]", "tau[1]", "M[0,0]", "M[1,0]", "M[1,1]"}
        for results, flags in found.values():
            assert flags.shape == (20, len(results) if made.is_core else 1) and not flags.any()


def test_both_give_what_their_words_can_tell_of(core: Product, stages: Product) -> None:
    """The same states, once through one stage and once through several."""
    state = within_limits(core, 50, 2)
    (words,) = inputs_of(core, state).values()
    whole, _ = integer_results(core, words)
    for function, own in inputs_of(stages, state).items():
        results, _ = integer_results(stages, own, function)
        for name, values in results.items():
            one = core.accelerator.result_formats[function][name].real(whole[name])
            other = stages.accelerator.result_formats[function][name].real(values)
            np.testing.assert_allclose(one, other, atol=2e-2 * np.abs(one).max())


def test_of_a_core_the_area_is_its_plans(core: Product, stages: Product) -> None:
    assert accelerator_features(core.accelerator) == features(core.plan)
    assert need_of(core).interval == core.plan.interval == 1
    for made in (core, stages):
        cells = need_of(made).cells
        assert cells is not None and luts_of(made) == cells["luts"] > 0


def test_several_stages_have_no_plan_of_their_own(stages: Product) -> None:
    assert len(stages.plans) > 1
    with pytest.raises(ValueError, match="unpack"):
        _ = stages.plan
