"""Results of other people's code for our formulas; `make_verl_oracle.py` computes them again."""

import json
from pathlib import Path

from torch import Tensor, tensor

VERL: dict[str, Tensor] = {
    name: tensor(value) for name, value in json.loads(Path(__file__).with_name("verl_oracle.json").read_text()).items()
}
