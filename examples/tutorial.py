# %% [markdown]
# # Tutorial
#
# From a trained ReLU network to a certificate, a cost and a plan of levels, on scikit-learn's digits. Everything below
# was executed; the outputs are what it printed.
#
# ## A trained network
#
# Any torch module of convolutions, fully connected layers, batch norm, pooling and ReLU will do. Here a small one is
# trained for a few seconds; yours comes from a checkpoint.
# %%
import torch
from torch import nn

import pascal
from pascal.data import evaluation_batches, load_dataset, sample

torch.manual_seed(0)
digits = load_dataset("digits")
train = list(evaluation_batches(digits, digits.train, 32))
test = list(evaluation_batches(digits, digits.test, 120))

model = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Flatten(), nn.Linear(32 * 16, 10),
)  # fmt: skip
optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for _ in range(4):
    for images, labels in train:
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimiser.step()
model.eval()


@torch.no_grad()
def accuracy(network):
    return sum(int((network(images).argmax(1) == labels).sum()) for images, labels in test) / len(digits.test)


print(f"ReLU network: {accuracy(model):.2%} of the test images")
# %% [markdown]
# ## Before anything else: does it convert?
# %%
print(pascal.inspect(model))
# %% [markdown]
# ## Levels, and thresholds without training
#
# `quantize` replaces every ReLU by a QCFS, an activation of *L* levels; `calibrate` fits its thresholds and the weights
# to training images, without labels.
# %%
quantized = pascal.quantize(model, levels=8)
calibration = pascal.calibrate(quantized, evaluation_batches(digits, sample(digits.train, 256), 64))
ann = calibration.ann
print(f"8 levels: {accuracy(ann):.2%}")
# %% [markdown]
# ## Spikes, and the proof
#
# `convert` makes the spiking network, `verify` compares every neuron of every layer with the ANN, here in float64.
# %%
certificate = pascal.verify(ann.double(), pascal.convert(ann.double()), test[:1])
print(certificate)
assert certificate.count_mismatches == 0
# %% [markdown]
# The engine `counts` computes the same spikes at the ANN's speed; `save` keeps it in one file.
# %%
snn = pascal.convert(ann.float(), engine="counts")
pascal.save(snn, "snn.safetensors")
print(f"spiking: {accuracy(pascal.load('snn.safetensors')):.2%}")
# %% [markdown]
# ## What it costs
#
# Operations, timesteps, energy by two cost tables, and cycles on a simulated LoAS accelerator from the real spikes.
# %%
cost = pascal.cost(snn, test[0][0][:8], accelerator="loas")
print(cost)
# %% [markdown]
# ## Fewer timesteps
#
# `plan_levels` chooses the levels of every layer within a budget, and shows what uniform levels, the paper's metric and
# random orders give at the same cost.
# %%
plan = pascal.plan_levels(ann, evaluation_batches(digits, sample(digits.train, 128), 64), budget="60%")
print(plan.levels)
print(plan.baseline_table().drop(columns="levels").to_string(index=False))
print(f"planned: {accuracy(plan.ann.float()):.2%} of the test images")
# %% [markdown]
# ## Next
#
# [Which *L*?](faq.md) · [what the numbers mean](energy.md) · [save and load](saving.md) · [every name](api.md) ·
# [the pipeline](pipeline.md), which does all this for many networks and seeds.
