"""Sampling of devices from logits."""

import numpy as np
import pytest
import torch

from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from tests.support.policies import seeded_generator

ROWS = 4000
LOGITS = torch.tensor([[0.0, 1.0, UNAVAILABLE, -0.5]]).repeat(ROWS, 1)
UNIFORM = np.array([1, 1, 0, 1]) / 3


def assert_frequencies(chosen: torch.Tensor, share: np.ndarray) -> None:
    """Require frequencies to match shares within five standard deviations."""
    counts = np.bincount(chosen.numpy(), minlength=len(share))
    assert (np.abs(counts - len(chosen) * share) <= 5 * np.sqrt(len(chosen) * share)).all()


def softmax(temperature: float = 1.0) -> np.ndarray:
    """Return the probabilities of the logits."""
    found: np.ndarray = torch.softmax(LOGITS[0] / temperature, dim=0).numpy()
    return found


def test_without_a_generator_the_most_likely_device_is_chosen() -> None:
    assert (Sampler()(LOGITS, 1) == 1).all()


def test_exploration_needs_a_generator() -> None:
    with pytest.raises(ValueError, match="exploration requires a generator"):
        Sampler(exploration=0.5)


def test_greedy_choices_are_the_most_likely_except_for_exploration() -> None:
    """Half of the choices are uniform over three devices, so one in three is another device."""
    alone = Sampler(seeded_generator(), greedy=True)(LOGITS, 1000)
    assert (alone == 1).all()
    half = Sampler(seeded_generator(), greedy=True, exploration=0.5)(LOGITS, 1000)
    assert_frequencies(half, np.array([1, 4, 0, 1]) / 6)


def test_temperature_flattens_and_the_first_sample_is_the_most_likely() -> None:
    """A temperature of 2 takes square roots of odds; the first row is the most likely one."""
    choose = Sampler(seeded_generator(), temperature=2.0, first_is_likeliest=True)
    chosen = choose(LOGITS, 1000)
    assert chosen[::1000].tolist() == [1, 1, 1, 1]
    assert_frequencies(chosen, softmax(2.0))


def test_full_exploration_is_uniform_over_offered_devices() -> None:
    chosen = Sampler(seeded_generator(), exploration=1.0)(LOGITS, 1)
    assert_frequencies(chosen, UNIFORM)


@pytest.mark.parametrize("exploration", [0.1, 0.5])
def test_exploration_is_the_share_of_uniform_choices(exploration: float) -> None:
    chosen = Sampler(seeded_generator(), exploration=exploration)(LOGITS, 1)
    assert_frequencies(chosen, exploration * UNIFORM + (1 - exploration) * softmax())


def test_the_most_likely_row_does_not_explore() -> None:
    choose = Sampler(seeded_generator(), first_is_likeliest=True, exploration=1.0)
    chosen = choose(LOGITS, 2)
    assert (chosen[::2] == 1).all()
    assert_frequencies(chosen[1::2], UNIFORM)


def test_without_exploration_no_further_numbers_are_drawn() -> None:
    """Runs without exploration must equal those of version 0.2 to the last bit."""
    plain, none = seeded_generator(), seeded_generator()
    assert Sampler(plain)(LOGITS, 1).tolist() == Sampler(none, exploration=0.0)(LOGITS, 1).tolist()
    assert torch.equal(plain.get_state(), none.get_state())


def test_a_seeded_sampler_draws_from_the_softmax() -> None:
    chosen = Sampler.seeded(3)(LOGITS, 1)
    assert torch.equal(Sampler.seeded(3)(LOGITS, 1), chosen)
    assert not torch.equal(Sampler.seeded(4)(LOGITS, 1), chosen)
    assert_frequencies(chosen, softmax())
