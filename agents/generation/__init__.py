"""Drawing responses from a policy: with transformers, with vLLM in this process, or through a server."""
