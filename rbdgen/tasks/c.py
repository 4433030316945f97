"""The functions of an accelerator in C: what ``tasks.model`` computes, bit for bit."""

from __future__ import annotations

from ..codegen.c_file import CFunction, sources
from ..codegen.c_integers import RANGES, CIntegers, File, cast, function, variable, word_type
from ..codegen.compiled import CSources as CSource
from ..codegen.words import Expression
from ..graph.fixed import Format, Held, parameter_words, parameters_of
from ..system.records import named_words
from .integration import FLAGS, turn_flags
from .model import NOTHING_HELD
from .routes import HOST, NOTHING, ROLLOUTS, STEPS, TOLD, TURN, Source, StageVisit, place
from .stage import Stage
from .stages import Accelerator

PHASES = 4  # turns after which the flags of a rollout's turns come again


def all_words(accelerator: Accelerator) -> list[Format]:
    """The formats of everything that a task brings, passes on or gives."""
    found = [word for own in accelerator.formats.values() for word in own.values()]
    for stage in accelerator.stages.values():
        found += [*stage.fixed.taken.values(), *stage.outputs.values()]
    return found


def add_tasks(file: File, accelerator: Accelerator, held: Held = NOTHING_HELD) -> list[CFunction]:
    """Add to the file a function for each of the accelerator's, of one task.

    ``in``: `accelerator.formats` of the function, ``out``: its `results`; a flag for all of them.
    ``held``: words in registers for many tasks, in place of those that stand there.
    """
    return _Tasks(file, accelerator, held).functions()


def tasks_source(accelerator: Accelerator, held: Held = NOTHING_HELD) -> CSource:
    """The accelerator's functions in C files; ``held`` as of `add_tasks`."""
    file = File("tasks")
    functions, word = tuple(add_tasks(file, accelerator, held)), word_type(all_words(accelerator))
    about = {"robot": "", "functions": "tasks", "graph": ""}
    return CSource(sources(file, functions, word, about), functions, word)


class _Tasks:
    def __init__(self, file: File, accelerator: Accelerator, held: Held) -> None:
        self.file, self.accelerator = file, accelerator
        graphs = {name: stage.fixed for name, stage in accelerator.stages.items()}
        self.held = {**parameter_words(graphs), **held}
        self.word, self.integer = f"{file.prefix}_word", word_type(all_words(accelerator))
        self.visits: dict[tuple[str, ...], str] = {}  # parameters and statements → function

    def functions(self) -> list[CFunction]:
        """All of them."""
        file, fields = self.file, []
        for name, stage in self.accelerator.stages.items():
            flagged = {node: frozenset({0}) for node in stage.fixed.graph.nodes}
            own = f"{file.prefix}_stage_{name}"
            file.add(stage.fixed, own, flagged, self.word, self.integer, 0)
            fields += [f"{self.word} {name}[{max(len(stage.outputs), 1)}];", f"int o_{name};"]
        body = "".join(f"    {field}\n" for field in fields)
        about = "/* What each stage gave last, and whether anything overflowed on the way there. */"
        file.functions.append(f"{about}\nstruct {file.prefix}_stages {{\n{body}}};")
        return [self.task(name) for name in self.accelerator.functions]

    def task(self, name: str) -> CFunction:
        """A function of the accelerator."""
        file, accelerator = self.file, self.accelerator
        own = f"{file.prefix}_{name}"
        lines = [f"struct {file.prefix}_stages s;"]
        turn = accelerator.turn(name, 0) if name in ROLLOUTS else accelerator.ordered(name)
        first = [self.visited(name, visit) for visit in turn]
        if name in ROLLOUTS:
            flags = [turn_flags(phase, name == "euler") for phase in range(PHASES)]
            rows = ", ".join(f"{{{', '.join(str(own[f]) for f in FLAGS)}}}" for own in flags)
            later = [self.visited(name, visit) for visit in accelerator.turn(name, 1)]
            place_of = {place(word): k for k, word in enumerate(accelerator.formats[name])}
            steps = CIntegers(file.tables).wrapped(
                variable(f"in[{place_of[STEPS]}]", *RANGES[self.integer]),
                accelerator.formats[name][STEPS].width,
            )
            lines += [
                f"static const signed char flags[{PHASES}][{len(FLAGS)}] = {{{rows}}};",
                f"const int32_t steps = {cast(steps, 'int32_t').text};",
                f"const int32_t turns = (steps > 1 ? steps : 1) * {ROLLOUTS[name]};",
                "const signed char *turn = flags[0];",
                "int32_t k;",
                *first,
                "for (k = 1; k < turns; k++) {",
                f"    turn = flags[k % {PHASES}];",
                *(f"    {line}" for line in later),
                "}",
            ]
        else:
            lines += first
        for k, output in enumerate(accelerator.results[name]):
            giver = accelerator.giver(name, output)
            at = _place(accelerator.stages[giver.stage], giver.field)
            lines.append(f"out[{k}] = s.{giver.stage}[{at}]; /* {output} */")
        last = " | ".join(f"s.o_{stage}" for stage in accelerator.flags_of(name))
        lines += [f"overflow[0] = (uint8_t){last};", f"return {last};"]
        head = f"int {own}(const {self.word} *in, {self.word} *out, uint8_t *overflow)"
        file.functions.append(function(head, lines))
        return CFunction(
            own,
            named_words(accelerator.formats[name]),
            named_words(accelerator.result_formats[name]),
            1,
            f"words_{name}.txt",
            f"expected_words_{name}.txt",
            name,
            f"The function {name}.",
        )

    def visited(self, name: str, visit: StageVisit) -> str:
        """The call of what takes a task of a function through a stage."""
        stage, body = self.accelerator.stages[visit.stage], CIntegers(self.file.tables)
        sources = stage.sources(name, visit)
        add = body.statements.append
        senders = dict.fromkeys(
            s.stage for s in sources.values() if s.stage not in (HOST, NOTHING, TURN, TOLD)
        )
        add(f"int o = {' | '.join(f's->o_{sender}' for sender in senders) or 0};")
        registers = parameters_of(self.held, stage.name)
        add(f"{self.word} x[{max(len(sources) + len(registers), 1)}];")
        for k, (field, source) in enumerate(sources.items()):
            to = stage.fixed.inputs[field]
            exact = self.operand(body, name, source, to, k)
            if exact.within(to.lowest, to.highest):
                word = exact
            else:
                exact = body.let(f"t{k}", exact)
                above = body.let(f"l{k}", body.largest(exact, to.lowest))
                word = body.let(f"n{k}", body.least(above, to.highest))
                add(f"o |= {word} != {exact};")
            add(f"x[{k}] = {cast(word, self.integer).text}; /* {field} */")
        for k, (name_of, number) in enumerate(registers.items(), len(sources)):
            add(f"x[{k}] = {int(number)}; /* {name_of} */")
        add(f"o |= {self.file.prefix}_stage_{stage.name}(x, s->{stage.name});")
        add(f"s->o_{stage.name} = o;")
        parameters = {
            "in": f"const {self.word} *in",
            "turn": "const signed char *turn",
            "&s": f"struct {self.file.prefix}_stages *s",
        }
        statements, names = body.live()
        used = [own for own in parameters if own in names or own == "&s"]
        key = *used, *statements
        if key not in self.visits:
            made = self.visits[key] = f"{self.file.prefix}_{name}_at_{visit}"
            taken = ", ".join(parameters[own] for own in used)
            self.file.functions.append(function(f"static void {made}({taken})", statements))
        return f"{self.visits[key]}({', '.join(used)});"

    def operand(self, body: CIntegers, name: str, source: Source, to: Format, k: int) -> Expression:
        """A stage's operand in its format, before it is brought to the nearest word."""
        if source.stage == NOTHING:
            return body.constant(0)
        if source.stage == TOLD:
            return body.constant(-1)
        if source.stage == TURN:
            return variable(f"turn[{FLAGS.index(source.field)}]", -1, 0)
        of = self.accelerator.given(name, source)
        if source.stage == HOST:
            words = [place(word) for word in self.accelerator.formats[name]]
            given = variable(f"in[{words.index(source.field)}]", *RANGES[self.integer])
            x = body.let(f"in{k}", body.wrapped(given, of.width))
        else:
            stage = self.accelerator.stages[source.stage]
            text = f"s->{source.stage}[{_place(stage, source.field)}]"
            x = Expression(text, of.lowest, of.highest, self.integer, whole=True)
        shift = of.fraction - to.fraction
        if shift <= 0:
            return body.left(x, -shift)
        return body.right(body.plus(x, body.constant(1 << (shift - 1))), shift)


def _place(stage: Stage, output: str) -> int:
    return list(stage.outputs).index(output)
