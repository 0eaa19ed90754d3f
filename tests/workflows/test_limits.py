"""Claims of each verb under each kind of limit, against all placements of small problems."""

import pytest

from benchmarks.reference.limit_problems import LIMITS
from benchmarks.reference.limit_verbs import VERBS
from tests.support.share import Share

SEEDS = 200
every_verb = pytest.mark.parametrize("verb", VERBS)
every_limit = pytest.mark.parametrize("limit", LIMITS)


@every_limit
@every_verb
def test_a_verb_knows_a_limit(verb: str, limit: str) -> None:
    for seed in range(2):
        VERBS[verb](limit, seed)


@pytest.mark.long
@every_limit
@every_verb
def test_a_verb_knows_a_limit_in_many_problems(verb: str, limit: str, share: Share) -> None:
    for seed in share.of(range(SEEDS)):
        VERBS[verb](limit, seed)
