"""From a torch module to a graph of pure calls, proven against the module itself."""

from pascal.graph.tracing.guards import expect
from pascal.graph.tracing.inplace import put
from pascal.graph.tracing.probe import find_probe, order_of_calls, prove
from pascal.graph.tracing.tracer import NeuronTracer
from pascal.graph.tracing.training import InferenceOnly, lost_in_training

__all__ = [
    "InferenceOnly",
    "NeuronTracer",
    "expect",
    "find_probe",
    "lost_in_training",
    "order_of_calls",
    "prove",
    "put",
]
