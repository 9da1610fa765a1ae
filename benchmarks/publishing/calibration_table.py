"""The table of networks that others trained for docs/results.md, from the recorded files: training-free, fine-tuned.

`python -m benchmarks.publishing.calibration_table` writes it between `<!-- calibration -->` and
`<!-- /calibration -->`. What has no file yet is left empty.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.publishing.pages import with_section
from pascal.report.write import to_markdown

ROOT = Path(__file__).parents[2]
PAGE, REFERENCE = ROOT / "docs" / "results.md", ROOT / "results" / "reference"
LEVELS = (4, 8, 16, 32)
NONE = "–"
CIFAR = (
    "The ReLU ResNet-20 that others trained, on test images of CIFAR-10. Training-free: `ridge` on training images "
    "without labels, CPU seconds. Fine-tuned: two epochs on all labels after `mse`, wall-clock seconds of the epochs. "
    "Counts: of the training-free network against its SNN, timestep by timestep."
)
IMAGENET = (
    "EfficientNet-Lite0 at 224×224, on a sample of ImageNet. Its images are probably training images: agreement and "
    "drop mean something, the accuracies are no validation."
)

Record = dict[str, Any]


def main() -> None:
    """Bring the page up to date."""
    PAGE.write_text(with_section(PAGE.read_text(), "calibration", section(REFERENCE)))


def section(reference: Path) -> str:
    """Both networks, each under its sentence."""
    free, tuned, lite0 = (
        {levels: _read(reference / folder / f"{name}-l{levels}.json") for levels in LEVELS}
        for folder, name in (("calibration", "resnet20"), ("cifar10", "own"), ("calibration", "lite0"))
    )
    cifar = [_cifar_row(levels, free[levels], tuned[levels]) for levels in LEVELS]
    imagenet = [_lite0_row(record) for record in lite0.values() if record]
    parts = [to_markdown(pd.DataFrame(cifar), CIFAR)]
    return "\n".join(parts + ([to_markdown(pd.DataFrame(imagenet), IMAGENET)] if imagenet else []))


def _read(path: Path) -> Record | None:
    return json.loads(path.read_text()) if path.exists() else None


def _cifar_row(levels: int, free: Record | None, tuned: Record | None) -> dict[str, str]:
    accuracy, seconds = (free or {}).get("accuracy", {}), (free or {}).get("seconds", {})
    return {
        "L": str(levels),
        "ReLU %": _percent(accuracy.get("relu")),
        "training-free %": _percent(accuracy.get("ridge")),
        "CPU s": f"{seconds['ridge']:.0f}" if seconds else NONE,
        "fine-tuned %": _percent(tuned and tuned["accuracy"]["fine_tuned"]),
        "wall-clock s": f"{sum(epoch['seconds'] for epoch in tuned['curve']):,.0f}" if tuned else NONE,
        "counts that differ, float64": _counts(free, "steps, float64"),
        "integers": _counts(free, "integer"),
        "images": _images(free),
    }


def _lite0_row(record: Record) -> dict[str, str]:
    accuracy, times = record["accuracy"], record.get("times", {})
    return {
        "L": str(record["levels"]),
        "agreement with float %": _percent(record["agreement"]),
        "float %": _percent(accuracy["float"]),
        "training-free %": _percent(accuracy["calibrated"]),
        "CPU s": f"{record['seconds']['ridge']:.0f}",
        "peak GB": f"{record['peak_gb_of_calibration']:.1f}",
        "counts that differ, float64": _counts(record, "steps, float64"),
        "integers": _counts(record, "integer"),
        "time of counts / integer over float": _ratios(times),
        "images": _images(record),
    }


def _percent(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.2f}"


def _counts(record: Record | None, name: str) -> str:
    found = (record or {}).get("certificates", {}).get(name)
    return f"{found['count_mismatches']} of {found['neurons']:,} ({found['images']:,} images)" if found else NONE


def _images(record: Record | None) -> str:
    """Calibrated on, tested on."""
    return f"{record['calibration_images']:,} / {record['test_images']:,}" if record else NONE


def _ratios(times: dict[str, float]) -> str:
    return f"{times['counts over float']:.1f} / {times['integer over float']:.1f}" if times else NONE


if __name__ == "__main__":
    main()
