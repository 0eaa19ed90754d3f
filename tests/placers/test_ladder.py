from streamplace.placers.ladder import ladder


def test_the_ladder_ends_with_all_devices() -> None:
    assert ladder(1) == [1]
    assert ladder(2) == [1, 2]
    assert ladder(4) == [1, 2, 3, 4]
    assert ladder(13) == [1, 2, 3, 4, 6, 8, 12, 13]
    assert ladder(28) == [1, 2, 3, 4, 6, 8, 12, 16, 24, 28]
