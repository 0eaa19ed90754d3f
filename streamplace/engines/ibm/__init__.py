"""IBM Streams: ADL, streamsx, SPL, job configuration overlays."""
