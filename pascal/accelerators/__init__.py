"""Accelerators: design points of LoAS and SparTen as records, and what their events cost; light enough for planning."""

from pascal.accelerators.accelerator import Accelerator, JoinProfile, accelerator_from_params
from pascal.accelerators.presets import PRESETS, ROOT
from pascal.accelerators.prices import PRICE_SETS, Prices

__all__ = ["PRESETS", "PRICE_SETS", "ROOT", "Accelerator", "JoinProfile", "Prices", "accelerator_from_params"]
