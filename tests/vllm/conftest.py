"""Settings of vLLM for tests on a CPU."""

import os

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB per engine
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "CRITICAL")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
if not os.environ.get("CUDA_VISIBLE_DEVICES"):
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)  # engines run where vLLM was built for
