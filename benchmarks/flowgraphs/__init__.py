"""Flowgraphs of GNU Radio, pinned by streamplace and otherwise."""
