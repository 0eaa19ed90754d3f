"""Detection of errors that mean a lack of memory, torch's included, without loading torch."""

OUT_OF_MEMORY = ("DefaultCPUAllocator: can't allocate memory", "CUDA out of memory")  # of torch


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there is no memory left."""
    text = str(error)
    return isinstance(error, MemoryError) or any(message in text for message in OUT_OF_MEMORY)
