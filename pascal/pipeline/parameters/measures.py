"""`verify`, `evaluate` and `workload`: of how much the trained network is asked."""

from typing import Literal

from pydantic import Field

from pascal.pipeline.parameters.base import Count, Few, Part, Several


class Verify(Part):
    """the equivalence certificate"""

    images: Count = Field(description="test images compared neuron by neuron")
    batch_size: Count
    dtype: Literal["float32", "float64"]


class Evaluate(Part):
    """accuracy on the test set"""

    batch_size: Count
    timesteps: Several[Few] = Field(description="timesteps of the plain IF network")
    plain_images: Count | None = Field(None, description="test images for the plain IF network; all without it")


class Workload(Part):
    """what the network asks of hardware"""

    images: Count = Field(description="test images behind spike counts and traces")
    batch_size: Count
    timesteps: int = Field(ge=1, le=32, description="timesteps of the plain IF trace")
