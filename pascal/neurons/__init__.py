"""Neurons: the QCFS activation of the ANN, the PASC neuron and the plain IF neuron of the SNN."""

from pascal.neurons.pasc import pasc_spikes
from pascal.neurons.plain import if_spikes
from pascal.neurons.qcfs import QCFS, qcfs_count

__all__ = ["QCFS", "if_spikes", "pasc_spikes", "qcfs_count"]
