"""The table of ONNX's types, against the types that the package onnx defines."""

import pytest

from streamplace.integrations.neural.onnx_types import PREFIX, RULES

WITHOUT_A_RULE = {
    # they run a body, or as many steps as the data need
    "If", "Loop", "Scan", "SequenceMap", "NonMaxSuppression", "MaxRoiPool", "Multinomial", "Unique",
    # text and images
    "ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit",
    "TfIdfVectorizer",
    # others
    "LinearAttention", "MelWeightMatrix", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss",
}  # fmt: skip


def test_every_type_of_onnx_has_a_rule_or_is_unknown_on_purpose() -> None:
    defs = pytest.importorskip("onnx.defs", reason="onnx is not installed (streamplace[onnx])")
    schemas = defs.get_all_schemas_with_history()
    types = {schema.name for schema in schemas if schema.domain == ""}
    own = {kind for kind in RULES if not kind.startswith((PREFIX, "ai.onnx.ml."))}
    assert own - types == {"Input"}
    assert types - own == WITHOUT_A_RULE


def test_rules_of_machine_learning_are_of_types_that_exist() -> None:
    defs = pytest.importorskip("onnx.defs", reason="onnx is not installed (streamplace[onnx])")
    types = {
        f"{schema.domain}.{schema.name}"
        for schema in defs.get_all_schemas_with_history()
        if schema.domain == "ai.onnx.ml"
    }
    assert {kind for kind in RULES if kind.startswith("ai.onnx.ml.")} <= types
