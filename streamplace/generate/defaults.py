"""The source rate and device speed for which graphs are generated."""

SOURCE_RATE = 10_000.0  # tuples/s
DEVICE_MIPS = 2500.0  # million instructions/s
INSTRUCTIONS_PER_DEVICE = DEVICE_MIPS * 1e6 / SOURCE_RATE  # capacity per source tuple
