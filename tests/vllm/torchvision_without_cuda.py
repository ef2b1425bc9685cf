"""Makes torchvision's CUDA wheel importable with CPU torch; copied into the environment of the vLLM tests.

The wheel's C++ operators need CUDA's libraries, and torchvision refuses to be imported without them. vLLM's processor
for Qwen2.5-VL imports torchvision but uses none of these operators, so declaring them is enough.
"""

import sys
from importlib.abc import MetaPathFinder

_declarations = []


class _BeforeTorchvision(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision" and not _declarations:
            import torch

            library = torch.library.Library("torchvision", "DEF")
            _declarations.append(library)
            for operator in ("nms", "qnms"):
                library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return None


sys.meta_path.insert(0, _BeforeTorchvision())
