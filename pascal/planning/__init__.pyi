from .front import FrontPoint, LevelFront, level_front
from .plan import plan_levels
from .record import Contender, LayerPlan, LevelPlan
from .study import MetricStudy, metric_study

__all__ = [
    "Contender",
    "FrontPoint",
    "LayerPlan",
    "LevelFront",
    "LevelPlan",
    "MetricStudy",
    "level_front",
    "metric_study",
    "plan_levels",
]
