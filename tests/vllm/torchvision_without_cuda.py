"""Lets torchvision's wheel for CUDA be imported beside torch for CPUs; copied into the environment of the vLLM tests.

The wheel's C++ operators need CUDA's libraries, and torchvision is not imported without them. vLLM's processor of
Qwen2.5-VL imports it and uses none of them, so their declarations are enough.
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
