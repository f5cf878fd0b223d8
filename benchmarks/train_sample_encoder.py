"""Trains the encoder of the sample's scenes from nothing, on clips that are drawn here, and writes its folder.

    python benchmarks/train_sample_encoder.py [--folder FOLDER] [--steps 700] [--clips 1600] [--batch 64] [--seed 0]

Equal numbers give equal weights, bit for bit, on one machine with equal versions of torch. It writes
open_clip_config.json, open_clip_model.safetensors (float16) and training.json, and prints the digest that
conf/encoder/sample_scenes.yaml must name. benchmarks/sample_significance.py measures the encoder and writes its card.

The two towers learn from pictures and captions in batches: a caption names a whole scene and a sign (as queries do; the
sign bears other words than the picture's) or a part of a scene, and every picture of the batch of which it is true
counts as its own. Words that no query of the sample uses keep the vectors they were drawn with, so that a sign that was
never seen is no stranger than those of the training.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import scene_split
from glyphrank.digests import digest_file
from glyphrank.encoders.clip_crop import Crop, Preparation
from glyphrank.encoders.clip_tokens import ClipTokeniser
from glyphrank.packages import import_package
from glyphrank.whole_files import replace_whole
from scene_card import FOLDER
from scene_pictures import Caption, Pictures, captions, draw, sign, training_drawings
from scene_validation import accuracies, validation_drawings

MEAN, STD = 0.5, 0.25
MODEL: Mapping[str, Any] = {
    "embed_dim": 64,
    "quick_gelu": False,
    "vision_cfg": {"image_size": 96, "layers": [1, 1, 1, 1], "width": 12, "head_width": 64},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 64, "heads": 4, "layers": 2},
}
PREPARATION = Preparation(Crop.squash, (96, 96), "bicubic", 0)
_WEIGHTS = "open_clip_model.safetensors"
_SETTINGS = "open_clip_config.json"
_WARM_UP = 60
_RATE, _DECAY = 2e-3, 0.05
_SHOWN = 50
"""Steps between two lines of progress."""


@dataclass(frozen=True)
class Plan:
    """What decides the weights.

    Attributes:
        steps: updates of the weights.
        clips: how many are drawn, three frames of each.
        batch: pictures of one step, each with two captions.
        seed: of weights, clips, signs and order.
        threads: of torch; another number adds in another order.
    """

    steps: int
    clips: int
    batch: int
    seed: int
    threads: int


def main(argv: Sequence[str] | None = None) -> int:
    """Draws, trains, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--clips", type=int, default=1600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2, help="that draw; they change nothing but the time")
    options = parser.parse_args(argv)
    plan = Plan(options.steps, options.clips, options.batch, options.seed, options.threads)
    start = time.perf_counter()
    _check_split()
    options.folder.mkdir(parents=True, exist_ok=True)
    settings = {"model_cfg": dict(MODEL), "preprocess_cfg": {"mean": [MEAN] * 3, "std": [STD] * 3}}
    _write(options.folder / _SETTINGS, settings)
    network, tokeniser = _untrained(options.folder, plan)
    words = scene_split.training_words(tokeniser.tokeniser.encoder)
    drawings = training_drawings(scene_split.training_scenes(), words, plan.clips, PREPARATION, plan.seed)
    pictures = draw(drawings, options.processes)
    judged = draw(validation_drawings(words, PREPARATION), options.processes)
    print(f"drawn: {plan.clips} clips in {time.perf_counter() - start:.0f} s", flush=True)
    losses = _train(network, tokeniser, pictures, words, plan)
    _save(network, options.folder / _WEIGHTS)
    reached = accuracies(network, tokeniser, judged, words, _scaled)
    facts = {
        **asdict(plan),
        "words": len(words),
        "parameters": sum(weight.numel() for weight in network.parameters()),
        "bytes": (options.folder / _WEIGHTS).stat().st_size,
        "seconds": round(time.perf_counter() - start),
        "losses": losses,
        "validation": reached,
        "versions": _versions(),
    }
    _write(options.folder / "training.json", facts)
    for name, value in reached.items():
        print(f"validation, {name}: {value:.3f}")
    print(f"sha256: {digest_file(options.folder / _WEIGHTS)}")
    return 0


def _check_split() -> None:
    """What is trained on must be apart from what is measured on; a split that is not stops the training."""
    trained = {scene_split.look(scene) for scene in scene_split.training_scenes()}
    if trained & scene_split.looks((*scene_split.TEST_SEEDS, *scene_split.validation_seeds())):
        raise RuntimeError("a scene of the test or the validation is trained on; mend scene_split.py")


def _untrained(folder: Path, plan: Plan) -> tuple[Any, ClipTokeniser]:
    """The network of the folder's settings with weights that the seed draws, and its tokeniser."""
    open_clip = import_package("open_clip", "open-clip-torch")
    import torch

    torch.set_num_threads(plan.threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(plan.seed)
    network = open_clip.create_model(
        f"local-dir:{folder}", load_weights=False, pretrained_image=False, pretrained_text=False
    )
    return network, ClipTokeniser(open_clip.get_tokenizer(f"local-dir:{folder}"))


def _train(
    network: Any, tokeniser: ClipTokeniser, pictures: Pictures, words: Sequence[str], plan: Plan
) -> dict[str, float]:
    """Trains the network in place; step -> mean loss since the one before."""
    import torch

    chance = Random(f"{plan.seed}/batches")
    optimiser = _optimiser(network, tokeniser)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, plan.steps))
    network.train()
    losses: dict[str, float] = {}
    recent, start = [], time.perf_counter()
    for step in range(1, plan.steps + 1):
        loss = _loss(network, *_batch(tokeniser, pictures, words, plan.batch, chance))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        with torch.no_grad():
            network.logit_scale.clamp_(0, math.log(50))
        recent.append(float(loss.detach()))
        if step % _SHOWN == 0 or step == plan.steps:
            losses[str(step)], recent = round(float(np.mean(recent)), 4), []
            print(f"step {step}: loss {losses[str(step)]:.3f}, {time.perf_counter() - start:.0f} s", flush=True)
    return losses


def _batch(
    tokeniser: ClipTokeniser, pictures: Pictures, words: Sequence[str], size: int, chance: Random
) -> tuple[Any, Any, Any]:
    """Scaled pictures (b, 3, h, w), tokens (2b, l) of whole captions and then of parts, and which fit what (2b, b)."""
    import torch

    chosen = [int(chance.random() * len(pictures.scenes)) for _ in range(size)]
    frames = [int(chance.random() * pictures.frames.shape[1]) for _ in range(size)]
    scenes = [pictures.scenes[number] for number in chosen]
    pairs = [captions(scene, sign(words, chance.random(), chance.random()), chance) for scene in scenes]
    asked: list[Caption] = [*(whole for whole, _ in pairs), *(part for _, part in pairs)]
    ids, _ = tokeniser.ids([caption.text for caption in asked])
    fits = np.array([[caption.fits(scene) for scene in scenes] for caption in asked], dtype=np.float32)
    return _scaled(pictures.frames[chosen, frames]), torch.from_numpy(ids), torch.from_numpy(fits)


def _loss(network: Any, pixels: Any, ids: Any, fits: Any) -> Any:
    """Cross-entropy of texts over pictures and of pictures over whole captions; those that fit share the target."""
    from torch.nn.functional import cross_entropy

    seen, said = network.encode_image(pixels, normalize=True), network.encode_text(ids, normalize=True)
    logits = network.logit_scale.exp() * said @ seen.T
    whole = slice(len(seen))
    back, wanted = logits[whole].T, fits[whole].T
    texts = cross_entropy(logits, fits / fits.sum(dim=1, keepdim=True))
    return texts + cross_entropy(back, wanted / wanted.sum(dim=1, keepdim=True)) / 2


def _optimiser(network: Any, tokeniser: ClipTokeniser) -> Any:
    """AdamW; gains, biases and vectors of words do not decay, and words that no query uses keep theirs."""
    import torch

    table = network.token_embedding.weight
    used = torch.zeros(len(table), 1)
    spoken = tokeniser.tokeniser.encode(" ".join([*sorted(scene_split.asked_words()), ".", ",", ";"]))
    used[[*spoken, tokeniser.tokeniser.sot_token_id, tokeniser.tokeniser.eot_token_id]] = 1
    table.register_hook(lambda gradient: gradient * used)
    decaying = [weight for weight in network.parameters() if weight.ndim > 1 and weight is not table]
    others = [weight for weight in network.parameters() if weight.ndim <= 1 or weight is table]
    groups = [{"params": decaying, "weight_decay": _DECAY}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=_RATE, betas=(0.9, 0.98))


def _rate(step: int, steps: int) -> float:
    """Share of the full rate: rises evenly, then falls as a cosine."""
    if step < _WARM_UP:
        return (step + 1) / _WARM_UP
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - _WARM_UP) / max(1, steps - _WARM_UP))))


def _scaled(frames: Any) -> Any:
    """Pictures (n, h, w, 3) uint8 as the network takes them, (n, 3, h, w)."""
    import torch

    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float().div_(255)
    return pixels.sub_(MEAN).div_(STD)


def _save(network: Any, path: Path) -> None:
    """Writes the weights in float16; the network goes on with what was written."""
    import torch
    from safetensors.torch import save

    halved = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in _state(network)}
    content = save(halved)
    replace_whole(path, lambda draft: draft.write_bytes(content))
    with torch.no_grad():
        network.load_state_dict(halved)


def _state(network: Any) -> list[tuple[str, Any]]:
    return [(name, tensor.detach().contiguous()) for name, tensor in network.state_dict().items()]


def _write(path: Path, value: object) -> None:
    replace_whole(path, lambda draft: draft.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8"))


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("torch", "open-clip-torch", "pillow", "numpy")}


if __name__ == "__main__":
    sys.exit(main())
