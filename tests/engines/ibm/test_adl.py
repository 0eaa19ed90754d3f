"""ADL, the XML that the compiler of IBM Streams writes."""

import pytest

from streamplace.problem.expansion import to_instances
from tests.corpus.engine_documents.ibm_streams import ADL, ADL_PARALLEL, with_rules
from tests.support.documents import edges, read_document, refused_document
from tests.support.instance_streams import receivers_of, selectivities_of


def test_composites_are_flattened() -> None:
    job = read_document("ibm-adl", ADL)
    assert job.graph.name == "my::Main"
    assert set(job.graph.names) == {"Source", "Outer.Inner.A", "Outer.Inner.B", "Join", "Sink"}
    assert edges(job) == [
        ("Outer.Inner.A", "Join"),
        ("Outer.Inner.A", "Sink"),
        ("Outer.Inner.B", "Join"),
        ("Outer.Inner.B", "Sink"),
        ("Source", "Join"),
        ("Source", "Outer.Inner.A"),
        ("Source", "Outer.Inner.B"),
    ]
    assert len(job.graph.unknown) == 3
    assert job.notes == [
        "'Out' left out: Import and Export connect other applications, whose tuples are in no "
        "stream of the graph"
    ]


def test_an_operator_behind_an_import_is_a_source() -> None:
    imported = '<primitiveImportOperInstance index="6" name="In"><outputPorts>'
    imported += '<port index="0"><connections><connection operIndex="4" portKind="input" '
    imported += 'portIndex="0"/></connections></port></outputPorts></primitiveImportOperInstance>'
    exported = '<primitiveExportOperInstance index="5" name="Out"/>'
    job = read_document("ibm-adl", ADL.replace(exported, imported + exported))
    assert edges(job) == edges(read_document("ibm-adl", ADL))
    assert job.notes[0].startswith("'In', 'Out' left out: ")


def test_composites_in_a_cycle() -> None:
    ring = ADL.replace('operIndex="8" portKind="output"', 'operIndex="8" portKind="input"')
    assert refused_document("ibm-adl", ring) == "streams[0]: 'Outer.Inner.A' feeds itself"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<primitiveOperInstance definitionIndex="0" index="3"', "<x", "not XML: mismatched tag"),
        ("<applicationSet", "<!DOCTYPE x [<!ENTITY e 'e'>]><applicationSet", "has a DTD"),
        ("splApplication", "application", "expected one <splApplication> (got 0)"),
        ('operIndex="3"', 'operIndex="33"', "no operator has the index '33'"),
        ('operIndex="3"', 'operIndex=""', "<connection>: missing attribute 'operIndex'"),
        ('index="3" name', 'index="4" name', "two operators have the index '4'"),
        (
            'operIndex="8" portKind="input"',
            'operIndex="8" portKind="x"',
            "operator '8' has no x port",
        ),
        (
            'operIndex="4" portKind="input"',
            'operIndex="4" portKind="output"',
            "operator '4' is fed",
        ),
        ('name="Join"', 'name="Sink"', "operators["),
    ],
)
def test_invalid_adl(old: str, new: str, message: str) -> None:
    assert old in ADL
    assert refused_document("ibm-adl", ADL.replace(old, new)).startswith(message)


def test_parallel_regions_of_adl() -> None:
    """Composites and operators are regions; a width set at submission counts as 1, with a note."""
    job = read_document("ibm-adl", ADL_PARALLEL)
    assert job.notes == [
        "the width of parallel regions that begin at 'Sink' is set at submission, and one channel "
        "is assumed; a costs file may state the parallelism of their operators"
    ]
    assert job.parallelism == {"P.A": 3, "P.B": 6, "Keyed": 2}
    assert receivers_of(job, "Source") == {0: [0, 1, 2]}
    assert receivers_of(job, "P.A") == {0: [0, 1], 1: [2, 3], 2: [4, 5]}
    assert selectivities_of(job, "P.A") == {1.0}
    to_keyed = [s for s in to_instances(job).streams if s.target.startswith("Keyed")]
    assert len(to_keyed) == 6 * 2
    assert selectivities_of(job, "P.B") == {0.5, 1.0}  # to channels of Keyed; to the sink
    assert selectivities_of(job, "Keyed") == {1.0}


def with_default(value: str) -> str:
    """Return the application with a default of the value that is the width of a region."""
    values = (
        f'<submissionTimeValue index="0" name="w" required="false" defaultValue="{value}"/>'
        '<submissionTimeValue index="1" name="v" required="false" defaultValue="9"/>'
    )
    at = "<composites>"
    return ADL_PARALLEL.replace(at, f"<submissionTimeValues>{values}</submissionTimeValues>{at}", 1)


@pytest.mark.parametrize("value", ["3", "&quot;3&quot;"])
def test_a_width_that_is_set_at_submission_is_its_default(value: str) -> None:
    """Streams takes it, without the quotes of SPL's literals, where the submission sets none."""
    job = read_document("ibm-adl", with_default(value))
    assert job.parallelism == {"P.A": 3, "P.B": 6, "Keyed": 2, "Sink": 3}
    assert job.notes == [
        "the width of parallel regions that begin at 'Sink' is set at submission, and its "
        "default is assumed; a costs file may state the parallelism of their operators"
    ]
    assert refused_document("ibm-adl", with_default("many")) == (
        "parallelRegion 'Sink': defaultValue: must be a whole number from 1 to 100,000 (got 'many')"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "Hash",
            "Sorted",
            "parallelRegion 'Keyed': unknown splitter 'Sorted'; choose from",
        ),
        (
            "<constantWidth>3",
            "<constantWidth>many",
            "parallelRegion 'P': constantWidth: "
            "must be a whole number from 1 to 100,000 (got 'many')",
        ),
        (
            "<constantWidth>3",
            "<constantWidth>0",
            "parallelRegion 'P': constantWidth: must be a",
        ),
        ("<constantWidth>3", "<constantWidth>99999", "more than 100,000 channels"),
        ('operIndex="2">', 'operIndex="7">', "parallelRegion: no operator has the index '7'"),
        ('operIndex="2">', 'operIndex="3">', "parallelRegion 'Keyed': operator '3' already begins"),
    ],
)
def test_invalid_parallel_regions_of_adl(old: str, new: str, message: str) -> None:
    assert old in ADL_PARALLEL
    assert refused_document("ibm-adl", ADL_PARALLEL.replace(old, new)).startswith(message)


@pytest.mark.parametrize("what", ["partitions", "resources"])
def test_colocations_of_adl(what: str) -> None:
    """Only operators outside regions are colocated; a tag of one operator is dropped."""
    groups = ((0, "x"), (3, "x"), (4, "x"), (4, "alone"), (1, "x"))
    text = with_rules(
        *((i, f'<{what}><coLocation colocId="{group}"/></{what}>') for i, group in groups)
    )
    assert read_document("ibm-adl", text).graph.constraints.colocate == (("Source", "Sink"),)


@pytest.mark.parametrize("what", ["partitions", "resources"])
def test_exlocations_of_adl(what: str) -> None:
    rule = f'<{what}><exLocation exlocId="x"/></{what}>'
    found = read_document("ibm-adl", with_rules((0, rule), (4, rule), (1, rule)))
    assert found.graph.constraints.exlocate == (("Source", "Sink"),)
    note, _ = found.notes  # the operator with the index 1 is in a region
    assert "their colocation, exlocation, isolation and hosts are not read" in note


@pytest.mark.parametrize("what", ["partitions", "resources"])
def test_an_isolated_operator_shares_its_device_with_no_other(what: str) -> None:
    rule = f'<{what} isolation="true"/>'
    apart = read_document("ibm-adl", with_rules((0, rule))).graph.constraints.exlocate
    names = read_document("ibm-adl", ADL_PARALLEL).graph.names
    assert {*map(tuple, apart)} == {("Source", name) for name in names if name != "Source"}
    both = read_document("ibm-adl", with_rules((0, rule), (4, rule)))
    assert ("Source", "Sink") in both.graph.constraints.exlocate
    never = read_document("ibm-adl", with_rules((0, f'<{what} isolation="false"/>')))
    assert not never.graph.constraints


def test_tags_of_host_pools_are_labels() -> None:
    pool = '<hostpools><hostpool index="3" name="p"><tag name="gpu"/></hostpool></hostpools>'
    rule = '<resources><poolLocation poolIndex="3"/></resources>'
    text = with_rules((0, rule), (1, rule))
    at = text.index(">", text.index("<splApplication")) + 1
    found = read_document("ibm-adl", text[:at] + pool + text[at:])
    requires = {operator.name: operator.requires for operator in found.graph.operators}
    assert {name for name, labels in requires.items() if labels} == {"Source", "P.A"}
    assert requires["Source"] == requires["P.A"] == ("gpu",), "P.A is in a region"
    assert found.notes[0].startswith("'Source', 'P.A': resource tags of Streams are read as labels")


def test_hosts_by_name_are_named_in_a_note() -> None:
    rule = '<resources><hostLocation hostname="h1"/></resources>'
    note, _ = read_document("ibm-adl", with_rules((0, rule))).notes
    assert note == "'Source': the names of their hosts are not read; pin them to devices"


def test_streams_have_the_names_of_their_ports() -> None:
    text = ADL.replace('<port index="0"><connections>', '<port index="0" name="Beat"><connections>')
    assert {*read_document("ibm-adl", text).stream_ids} == {"Beat"}
    assert {*read_document("ibm-adl", ADL).stream_ids} == {""}
