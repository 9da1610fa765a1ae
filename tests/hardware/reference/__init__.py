"""The clock-stepped reference: every PE moves real integers through its states, one `yield` per clock.

Written from the description of the machines alone; it shares nothing with the fast model but the presets.
"""

from tests.hardware.reference.machine import run_reference
from tests.hardware.reference.records import ReferenceLayer, ReferenceResult

__all__ = ["ReferenceLayer", "ReferenceResult", "run_reference"]
