"""Documents and connections of stream-processing systems: import, profiles and export."""
