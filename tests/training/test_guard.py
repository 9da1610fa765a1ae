"""What goes wrong is told with epoch, step and layer, and the last good checkpoint stays."""

import pytest
import torch
from torch import nn

from pascal.errors import PascalError
from pascal.training import Checkpoint, TrainingConfig, train
from tests.training.toy import CONFIG, ToyBatches, toy_network


class AtStep(nn.Module):
    """Lets images through until its `step`-th training pass, where it does what `fault` does."""

    def __init__(self, step, fault) -> None:
        super().__init__()
        self.left, self.fault = step, fault

    def forward(self, images):
        self.left -= self.training
        return self.fault(images) if self.left <= 0 else images


def faulty_network(step, fault) -> nn.Sequential:
    network = toy_network()
    network[6] = nn.Sequential(network[6], AtStep(step, fault))
    return network


def allocate_too_much(images):
    return torch.empty(1 << 50)  # a petabyte: the CPU's allocator refuses


def refuse_like_a_gpu(images):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda images: images / 0, r"epoch 2, step 3: layer '6.1': the loss is (nan|inf)"),
        (allocate_too_much, r"epoch 2, step 3, layer '6.1': out of memory; lower batch_size"),
        (refuse_like_a_gpu, r"epoch 2, step 3, layer '6.1': out of memory; lower batch_size"),
    ],
)
def test_a_fault_in_a_layer_is_located(fault, message, tmp_path):
    checkpoint = Checkpoint(tmp_path, "key")
    with pytest.raises(PascalError, match=message):
        list(train(faulty_network(11, fault), ToyBatches(), CONFIG, save=checkpoint.save, bar=False))
    good = checkpoint.load()
    assert good.step == 9  # saved every 3 steps and at the epoch's end, 8
    assert [record.epoch for record in good.records] == [1]


def test_other_errors_keep_their_own_face():
    def fault(images):
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match") as caught:
        list(train(faulty_network(1, fault), ToyBatches(), CONFIG, bar=False))
    assert not isinstance(caught.value, PascalError)


class BrokenBatches(ToyBatches):
    def epoch(self, epoch, start=0):
        for step, (images, labels) in enumerate(super().epoch(epoch, start), start):
            yield self.broken(images) if (epoch, step) == (1, 4) else images, labels

    def broken(self, images):
        return images * float("nan")


class UnreadableBatches(BrokenBatches):
    def broken(self, images):
        raise PascalError("cat.png: unreadable image")


def test_bad_images_are_located():
    with pytest.raises(PascalError, match="epoch 2, step 5: images: the loss is nan"):
        list(train(toy_network(), BrokenBatches(), CONFIG, bar=False))
    with pytest.raises(PascalError, match=r"epoch 2, step 5: cat\.png: unreadable image"):
        list(train(toy_network(), UnreadableBatches(), CONFIG, bar=False))


def test_bad_validation_images_are_told_of_the_epoch_that_ended():
    def validation():
        raise PascalError("cat.png: unreadable image")
        yield

    with pytest.raises(PascalError, match=r"^end of epoch 1: cat\.png: unreadable image"):
        list(train(toy_network(), ToyBatches(), CONFIG, validation=validation(), bar=False))


def test_memory_that_runs_out_between_layers_blames_none():
    class Large(BrokenBatches):
        def broken(self, images):
            return allocate_too_much(images)

    with pytest.raises(PascalError, match=r"epoch 2, step 5, no layer \(data, backward pass or optimiser\): out of"):
        list(train(toy_network(), Large(), CONFIG, bar=False))


def test_a_learning_rate_out_of_sense_is_told():
    config = TrainingConfig(epochs=3, learning_rate=1e30)
    told = r"epoch 1, step \d: .*(threshold (exploded|collapsed)|the loss is).*lower learning_rate"
    with pytest.raises(PascalError, match=told):
        list(train(toy_network(), ToyBatches(), config, bar=False))


class Poisoned(nn.Linear):
    """Its gradient is no number although the loss is one."""

    def forward(self, images):
        logits = super().forward(images)
        logits.register_hook(lambda gradient: gradient * float("nan"))
        return logits


def test_weights_that_are_no_numbers_never_replace_a_good_checkpoint(tmp_path):
    checkpoint, states = Checkpoint(tmp_path, "key"), []
    network = nn.Sequential(nn.Flatten(), nn.Linear(192, 3))

    def save(state):
        checkpoint.save(state)
        states.append(state)
        network[1].__class__ = Poisoned  # from now on

    config = TrainingConfig(epochs=2, checkpoint_steps=1)
    with pytest.raises(PascalError, match=r"epoch 1, step 3: 'model/1\.(weight|bias)' is not finite"):
        list(train(network, ToyBatches(), config, save=save, bar=False))
    assert [state.step for state in states] == [1]
    assert all(torch.isfinite(tensor).all() for tensor in checkpoint.load().tensors.values())


def test_batches_that_break_their_word_are_told():
    class Short(ToyBatches):
        def epoch(self, epoch, start=0):
            return iter(list(super().epoch(epoch, start))[:-1])

    with pytest.raises(PascalError, match="the epoch ended at step 7, expected 8"):
        list(train(toy_network(), Short(), CONFIG, bar=False))
