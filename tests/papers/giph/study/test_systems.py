"""Tests for the trainings of the study of GiPH."""

import pytest
import torch

from streamplace.learning.policy.weights import new_policy
from streamplace.papers.giph.study.registered import GIPH, PAPER_TRAINED, PLACETO, SYSTEMS, Cases
from streamplace.papers.giph.study.systems import episodes_of_paper, trained
from streamplace.problem.makespan import Makespan


@pytest.mark.parametrize("system", [GIPH, PAPER_TRAINED, PLACETO])
def test_one_pass_over_the_cases_changes_the_policy(system: str) -> None:
    """Placeto's published baseline and its first epoch without updates would leave it as it is."""
    problems = Cases("giph-code:cases=single:split=train", 1).problems(Makespan())
    policy = trained(system, problems, epochs=1, samples=2, seed=3)
    fresh = new_policy(SYSTEMS[system], 3)
    pairs = zip(policy.parameters(), fresh.parameters(), strict=True)
    assert not all(torch.equal(after, before) for after, before in pairs)


@pytest.mark.parametrize(("cases", "epochs", "count"), [(300, 1, 200), (120, 3, 200), (4, 1, 4)])
def test_the_papers_training_has_200_episodes(cases: int, epochs: int, count: int) -> None:
    case = Cases("giph-code:cases=single:split=train", 1).problems(Makespan())
    assert len(episodes_of_paper(case * cases, epochs)) == count
