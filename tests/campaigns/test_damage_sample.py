"""A small form of the campaign of damages, on one of its stores."""

import random

import pytest

from tests.campaigns import damage as campaign


@pytest.mark.slow
def test_every_kind_of_damage_is_found_and_mended(tmp_path):
    """One case of each kind, all done again where chunks became pending."""
    whole = next(campaign.filled(tmp_path))
    rng, chosen = random.Random(5), {}
    found = campaign.cases(whole, rng)
    rng.shuffle(found)
    for case in found:
        if case.kind not in chosen:
            facts = campaign.outcome(whole, case, tmp_path / "spoiled" / "one", again=True)
            if facts is not None:
                chosen[case.kind] = facts
    assert len(chosen) == 19
    for facts in chosen.values():
        assert facts.get("detected"), facts
        assert not facts["left"], facts
        assert not facts["differing"], facts
