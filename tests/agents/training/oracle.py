"""What other people's code says about our formulas; `make_verl_oracle.py` remakes the numbers."""

import json
from pathlib import Path

from torch import Tensor, tensor

VERL: dict[str, Tensor] = {
    name: tensor(value) for name, value in json.loads(Path(__file__).with_name("verl_oracle.json").read_text()).items()
}
