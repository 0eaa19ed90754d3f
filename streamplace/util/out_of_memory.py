"""Detection of out-of-memory errors, including torch's, without importing torch."""

OUT_OF_MEMORY = (  # in torch's messages
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA out of memory",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that no memory is left."""
    text = str(error)
    return isinstance(error, MemoryError) or any(message in text for message in OUT_OF_MEMORY)
