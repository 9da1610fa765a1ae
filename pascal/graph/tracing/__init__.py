"""From a torch module to a graph of pure calls, proven against the module itself."""

from pascal.graph.tracing.guards import expect
from pascal.graph.tracing.inplace import put
from pascal.graph.tracing.maxima import spell_maxima
from pascal.graph.tracing.probe import find_probe, order_of_calls, prove
from pascal.graph.tracing.tracer import NeuronTracer, is_customised
from pascal.graph.tracing.training import InferenceOnly, lost_in_training

__all__ = [
    "InferenceOnly",
    "NeuronTracer",
    "expect",
    "find_probe",
    "is_customised",
    "lost_in_training",
    "order_of_calls",
    "prove",
    "put",
    "spell_maxima",
]
