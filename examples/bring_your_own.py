"""A trained ReLU network becomes a spiking one, without training and without labels: calibrate, convert, verify, price.

`python bring_your_own.py CHECKPOINT --levels 8 --data FOLDER` takes a ReLU ResNet-20 for CIFAR-10 whose shortcuts have
no weights. For your own, put your network into `network` and your images into `images`; the rest stays as it is.
"""

import argparse
from collections.abc import Iterable

import torch
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, transforms

import pascal


def network(checkpoint: str, levels: int) -> torch.nn.Module:
    """YOURS: a trained network. Of any torch module with ReLUs `pascal.quantize(model, levels)` makes one."""
    ann = pascal.build_network("resnet20-a", classes=10, image_size=32, levels=levels)
    print(pascal.load_weights(ann, checkpoint))
    return ann


def images(folder: str, train: bool, count: int) -> DataLoader:
    """YOURS: batches of images, coloured as the network saw them in training; labels only to report an accuracy."""
    colours = transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    dataset = datasets.CIFAR10(folder, train, transforms.Compose([transforms.ToTensor(), colours]))
    chosen = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(0))[:count].tolist()
    return DataLoader(Subset(dataset, chosen), batch_size=100)


@torch.no_grad()
def accuracy(model: torch.nn.Module, batches: Iterable[list[torch.Tensor]]) -> float:
    """The share of right answers."""
    right = [model(pixels.double()).argmax(1) == labels for pixels, labels in batches]
    return torch.cat(right).double().mean().item()


def main() -> None:
    """From checkpoint to certificate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--levels", type=int, default=8)
    parser.add_argument("--data", default="data", help="the folder that has torchvision's cifar-10-batches-py")
    parser.add_argument("--images", type=int, default=1000, help="training images to calibrate on")
    parser.add_argument("--test", type=int, default=2000, help="test images to report on")
    options = parser.parse_args()

    calibration = pascal.calibrate(
        network(options.checkpoint, options.levels), images(options.data, True, options.images), bar=True
    )
    print(calibration)

    ann, test = calibration.ann.double().eval(), images(options.data, False, options.test)
    snn = pascal.convert(ann)  # timestep by timestep; engine="counts" has the same spikes at the ANN's speed
    fast = pascal.convert(ann, engine="counts")
    print(f"calibrated {accuracy(ann, test):.2%}, spiking {accuracy(fast, test):.2%}")
    print(pascal.verify(ann, snn, images(options.data, False, 200)))
    print(pascal.cost(snn, images(options.data, False, 20)))
    pascal.save(snn, "snn.safetensors")


if __name__ == "__main__":
    main()
