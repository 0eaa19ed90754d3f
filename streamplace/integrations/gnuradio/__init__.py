"""Flowgraphs of GNU Radio, whose blocks are threads."""
