from .bounds import METHODS
from .network import calibrate
from .published import LoadedWeights, load_weights
from .records import Calibration, LayerCalibration
from .state import restore
from .tuning import FineTuning, fine_tune

__all__ = [
    "METHODS",
    "Calibration",
    "FineTuning",
    "LayerCalibration",
    "LoadedWeights",
    "calibrate",
    "fine_tune",
    "load_weights",
    "restore",
]
