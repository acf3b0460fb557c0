"""What compressors need for a text, once they have read a prompt: predictors that copy, and understand nothing."""

import lzma

PPMD, ZSTD, LZMA = COMPRESSORS = ("ppmd", "zstd", "lzma")
# Filters that write no header, and remember as much as any prompt has.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 26}]


def compressed_bits(name: str, prompt: str, text: str) -> float:
    """Return the bits that a compressor needs for a text behind a prompt."""
    if name == ZSTD:
        return _with_dictionary(prompt.encode(), text.encode())
    return 8.0 * max(1, compressed_size(name, prompt + text) - compressed_size(name, prompt))


def _with_dictionary(prompt: bytes, text: bytes) -> float:
    import zstandard

    dictionary = zstandard.ZstdCompressionDict(prompt, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    settings = zstandard.ZstdCompressionParameters.from_level(
        19, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=False, write_dict_id=False
    )
    compressor = zstandard.ZstdCompressor(dict_data=dictionary if prompt else None, compression_params=settings)
    return 8.0 * len(compressor.compress(text))


def compressed_size(name: str, text: str) -> int:
    """Return the bytes that PPMd or LZMA make of a text."""
    if name == LZMA:
        return len(lzma.compress(text.encode(), lzma.FORMAT_RAW, filters=_FILTERS))
    import pyppmd

    return len(pyppmd.compress(text.encode()))
