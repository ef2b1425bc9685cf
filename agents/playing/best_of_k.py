"""Acting by the critic's choice: of k drawn responses, the one with the highest Q is executed."""

from collections.abc import Sequence

import torch

from coach_gym.agents.generation.generator import Generator, OnFirst
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.tree import prompt_tree
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.episode import Candidate


class BestOfK(PolicyPlayer):
    """Executes the best of k responses by Q.

    It moves the best response to the front, where the others keep their order. The k together are still independent
    draws of the policy; the executed one is not.

    Args:
        policy: Writes the prompts and reads the responses.
        generator: Draws the responses.
        temperature: Sampling temperature.
        max_new_tokens: Length at which a response is cut off.
        critic: Estimates Q; of a policy that is not distributed over processes.
        k: Responses drawn in every state.
        malformed_is_worst: Prefers every action to a response that is none. Pass False for environments that read other
            texts than the dialect's actions.
    """

    def __init__(
        self,
        policy: Policy,
        generator: Generator,
        temperature: float,
        max_new_tokens: int,
        critic: Critic,
        k: int,
        malformed_is_worst: bool = True,
    ) -> None:
        super().__init__(policy, generator, temperature, max_new_tokens)
        self.critic = critic
        self.k = k
        self.malformed_is_worst = malformed_is_worst

    def draw(self, prompts: Sequence[Prompt], on_first: OnFirst | None = None) -> list[list[Candidate]]:
        """Draws k candidates for every prompt, the best one first; `on_first` receives it once all are scored."""
        drawn = [
            self._best_first(prompt, candidates)
            for prompt, candidates in zip(prompts, super().draw(prompts), strict=True)
        ]
        if on_first is not None:
            for number, candidates in enumerate(drawn):
                on_first(number, candidates[0])
        return drawn

    def respond(self, prompts: Sequence[Prompt], deterministic: bool) -> list[list[Candidate]]:
        """Draws as for a roll-out in either case: of the most likely response alone there is no choice."""
        return self.draw(prompts)

    @torch.no_grad()
    def _best_first(self, prompt: Prompt, candidates: list[Candidate]) -> list[Candidate]:
        if len({candidate.text for candidate in candidates}) == 1:
            return candidates
        (q,) = self.critic.q_values(prompt_tree(self.policy, prompt, candidates))
        if self.malformed_is_worst:
            frame = self.policy.dialect.frame(1000, 1000, self.policy.chat.token_side)  # any: points are clamped to it
            malformed = [not self.policy.is_action(candidate.text, frame) for candidate in candidates]
            q = q.masked_fill(torch.tensor(malformed, device=q.device), float("-inf"))
        best = int(q.argmax())
        return [candidates[best], *candidates[:best], *candidates[best + 1 :]]
