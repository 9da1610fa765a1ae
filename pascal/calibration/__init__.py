"""Calibration: thresholds and weights of a quantised ReLU network from images alone, in closed form."""

from pascal.calibration.calibrate import METHODS, calibrate
from pascal.calibration.records import Calibration, LayerCalibration

__all__ = ["METHODS", "Calibration", "LayerCalibration", "calibrate"]
