"""ONNX: models."""
