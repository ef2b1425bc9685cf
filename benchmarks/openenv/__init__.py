"""What OpenEnv costs a step on the embedded phone, beside OpenEnv's own echo environment."""
