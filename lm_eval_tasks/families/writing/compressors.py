"""What compressors need for a text, once they have read a prompt."""

import lzma

# Filters that write no header, and remember as much as any prompt has.
_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 26}]


def compressed_bits(name: str, prompt: str, text: str) -> float:
    """Return the bits that a compressor needs for a text behind a prompt."""
    before, behind = prompt.encode(), text.encode()
    if name == "zstd":
        import zstandard

        dictionary = zstandard.ZstdCompressionDict(before, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        settings = zstandard.ZstdCompressionParameters.from_level(
            19, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=False, write_dict_id=False
        )
        compressor = zstandard.ZstdCompressor(dict_data=dictionary if before else None, compression_params=settings)
        return 8.0 * len(compressor.compress(behind))
    size = _ppmd if name == "ppmd" else _lzma
    return 8.0 * max(1, size(before + behind) - size(before))


def _ppmd(data: bytes) -> int:
    import pyppmd

    return len(pyppmd.compress(data))


def _lzma(data: bytes) -> int:
    return len(lzma.compress(data, lzma.FORMAT_RAW, filters=_LZMA))
