"""The machine: PEs and their neuron units under one clock, fed by a queue or tile by tile."""

from collections import Counter, deque
from collections.abc import Iterator

from pascal.accelerators.accelerator import Accelerator
from tests.hardware.reference.clocked import Clocked, Process, chained
from tests.hardware.reference.neuron import NeuronUnit
from tests.hardware.reference.pe import Job, OutputNeuron
from tests.hardware.reference.records import ReferenceLayer, ReferenceResult


def run_reference(layer: ReferenceLayer, accelerator: Accelerator, neuron: str, held: int) -> ReferenceResult:
    """Run a layer to its last spike; `held` is how many timesteps a PE of LoAS keeps at once."""
    result = ReferenceResult()
    unit = NeuronUnit(accelerator, neuron, layer.step, layer.levels, result.events)
    machine = _Machine(Job(layer, accelerator, unit, result, held))
    if accelerator.schedule in ("dynamic", "lpt"):
        machine.run_queue()
    else:
        machine.run_tiles()
    result.events = +result.events
    return result


class _Machine:
    def __init__(self, job: Job) -> None:
        self.job, self.result = job, job.result
        self.pipelined = job.accelerator.overlap == "pipelined"
        self.pes = [Clocked() for _ in range(job.accelerator.pes)]
        self.units = [Clocked() for _ in range(job.accelerator.pes)]
        rows, filters = range(len(job.layer.trains)), range(len(job.layer.weights))
        self.neurons = {(row, n): OutputNeuron(job, row, n) for row in rows for n in filters}

    def tick(self) -> None:
        """One clock; neuron units first, so that a PE sees whether its own is free."""
        for unit in self.units:
            unit.clock()
        for pe in self.pes:
            self.result.states[pe.clock() or "idle"] += 1
        self.result.cycles += 1

    def run_queue(self) -> None:
        """The lowest idle PE takes the next neuron, until all is done."""
        queue = deque(self._dispatch_order())
        while True:
            for pe, unit in zip(self.pes, self.units, strict=True):
                while queue and not pe.busy:
                    pe.start(self._one_neuron(queue.popleft(), unit))
            if not any(part.busy for part in [*self.pes, *self.units]):
                return
            self.tick()

    def _one_neuron(self, neuron: OutputNeuron, unit: Clocked) -> Iterator[str]:
        yield from neuron.compute()
        if not self.pipelined:
            yield from neuron.fire()
            return
        while unit.busy:
            yield "wait"
        unit.start(neuron.fire())

    def _dispatch_order(self) -> list[OutputNeuron]:
        pes, loas = self.job.accelerator.pes, self.job.accelerator.machine == "loas"

        def place(index: tuple[int, int]) -> tuple[int, int, int]:
            lane, other = index if loas else index[::-1]
            return lane // pes, other, lane

        order = [self.neurons[index] for index in sorted(self.neurons, key=place)]
        if self.job.accelerator.schedule == "lpt":
            order.sort(key=lambda neuron: -sum(len(neuron.matched(chunk)) for chunk in range(self.job.chunks)))
        return order

    def run_tiles(self) -> None:
        """Tile by tile and chunk by chunk, all PEs waiting for the slowest; then drain, then fire."""
        for tile in self._tiles():
            for chunk in range(self.job.chunks):
                self._together({pe: [_joining(n, chunk) for n in own] for pe, own in tile.items()})
            self._together({pe: [n.drain for n in own] for pe, own in tile.items()})
            if self.pipelined:
                self._finish(self.units)
                for pe, own in tile.items():
                    self.units[pe].start(chained([n.fire for n in own]))
            else:
                self._together({pe: [n.fire for n in own] for pe, own in tile.items()})
        self._finish(self.units)

    def _tiles(self) -> list[dict[int, list[OutputNeuron]]]:
        """Neurons of each PE in each tile, in order."""
        accelerator = self.job.accelerator
        by_rows = accelerator.schedule == "barrier"
        lane_of_filter = self._pairs() if accelerator.schedule == "gb" else {}
        tiles: dict[tuple[int, int], dict[int, list[OutputNeuron]]] = {}
        for index, neuron in self.neurons.items():
            lane, other = index if by_rows else index[::-1]
            lane = lane_of_filter.get(lane, lane)
            tile = tiles.setdefault((lane // accelerator.pes, other // accelerator.tile), {})
            tile.setdefault(lane % accelerator.pes, []).append(neuron)
        return [tiles[key] for key in sorted(tiles)]

    def _pairs(self) -> dict[int, int]:
        """Greedy balancing: filters by falling density; the first and the last share lane 0, and so on inwards."""
        weights = self.job.layer.weights
        falling = deque(sorted(range(len(weights)), key=lambda n: -Counter(map(bool, weights[n]))[True]))
        lanes: dict[int, int] = {}
        for lane in range(len(weights)):
            for end in (falling.popleft, falling.pop):
                if falling:
                    lanes[end()] = lane
        return lanes

    def _together(self, work: dict[int, list[Process]]) -> None:
        for pe, processes in work.items():
            self.pes[pe].start(chained(processes))
        self._finish(self.pes)

    def _finish(self, units: list[Clocked]) -> None:
        while any(unit.busy for unit in units):
            self.tick()


def _joining(neuron: OutputNeuron, chunk: int) -> Process:
    return lambda: neuron.join(chunk)
