"""Licences from the metadata of packages."""

import pytest

from benchmarks.hardening.supply import licences


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ({"license_expression": "MIT", "license": "BSD"}, "MIT"),
        ({"classifier": ["License :: OSI Approved :: MIT License"]}, "MIT License"),
        ({"license": "BSD-2-Clause"}, "BSD-2-Clause"),
        ({"license": "Permission is hereby granted,\nfree of charge"}, licences.UNKNOWN),
        ({"classifier": ["License :: OSI Approved"], "license": ""}, licences.UNKNOWN),
        ({}, licences.UNKNOWN),
    ],
)
def test_licences_are_read_from_metadata(metadata: dict[str, object], licence: str) -> None:
    assert licences.licence_of(metadata) == licence
