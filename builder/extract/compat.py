"""`pymupdf`: the internals that we use."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from builder.mupdf import pymupdf
from lm_eval_tasks.base.text import valid

# What MuPDF raises for a damaged file; most of it is a RuntimeError, a cycle among the pages is not.
FAULTS: tuple[type[Exception], ...] = (RuntimeError, pymupdf.mupdf.FzErrorBase)


# Keys of what a page shows: all of it, images and forms, shadings, patterns.
_RESOURCES = ("", "/XObject", "/Shading", "/Pattern")


def outline_of(pdf: pymupdf.Document) -> Iterator[tuple[int, str]]:
    """Yield the levels and titles of the file's outline.

    The public way, `get_toc`, looks up each entry's page too, which takes longer than to read the file.
    """
    waiting = [(1, pdf.outline)]
    while waiting:
        level, entry = waiting.pop()
        if entry is not None and entry.this.m_internal:
            yield level, entry.title or " "
            waiting += [(level, entry.next), (level + 1, entry.down)]


def links_of(page: pymupdf.Page) -> Iterator[tuple[tuple[float, float, float, float], str]]:
    """Yield the boxes of a page's links to addresses outside the file, and the addresses.

    The public ways, `get_links` and `first_link`, look up where every link leads, and all annotations again for each link.
    """
    link = pymupdf.mupdf.fz_load_links(page.this)
    while link.m_internal:
        # An address may have bytes that are no text.
        address, box = valid(link.uri() or ""), link.rect()
        if ":" in address and not address.startswith(("#", "file:")):
            yield (box.x0, box.y0, box.x1, box.y1), address
        link = link.next()


class _Pictures(pymupdf.mupdf.FzDevice2):  # type: ignore[misc]
    """A device that hears of images and shadings only; `get_bboxlog` also records every path and text, which takes longer than running
    the page.
    """

    def __init__(self) -> None:
        super().__init__()
        self.boxes: list[tuple[float, float, float, float]] = []
        self.use_virtual_fill_image()
        self.use_virtual_fill_shade()

    def fill_image(self, context: Any, image: Any, matrix: Any, *_: Any) -> None:
        """Note where an image is drawn: the unit square, moved by the matrix."""
        unit = pymupdf.mupdf.FzRect(pymupdf.mupdf.FzRect.Fixed_UNIT)
        self._add(pymupdf.mupdf.ll_fz_transform_rect(unit.internal(), matrix))

    def fill_shade(self, context: Any, shade: Any, matrix: Any, *_: Any) -> None:
        """Note where a shading is drawn."""
        self._add(pymupdf.mupdf.ll_fz_bound_shade(shade, matrix))

    def _add(self, box: Any) -> None:
        self.boxes.append((box.x0, box.y0, box.x1, box.y1))


@contextmanager
def unturned(page: pymupdf.Page) -> Iterator[None]:
    """Let a page be as it is before it is turned, as the boxes of its texts are."""
    rotation = page.rotation
    # A damaged file has pages that cannot be turned.
    if rotation:
        page.set_rotation(0)
    try:
        yield
    finally:
        if rotation:
            page.set_rotation(rotation)


def picture_boxes(page: pymupdf.Page) -> list[tuple[float, float, float, float]]:
    """Return the boxes of a page's images and shadings, in the coordinates of the page before it is turned."""
    device = _Pictures()
    with unturned(page):
        pymupdf.mupdf.fz_run_page(page.this, device, pymupdf.mupdf.FzMatrix(), pymupdf.mupdf.FzCookie())
        pymupdf.mupdf.fz_close_device(device)
    return device.boxes


def has_pictures(page: pymupdf.Page) -> bool:
    """Tell whether a page may show images or shadings; those within its own program are not listed."""
    try:
        own, *listed = (page.parent.xref_get_key(page.xref, f"Resources{name}")[0] for name in _RESOURCES)
    except ValueError:
        # A damaged file has pages without a number.
        return True
    is_inherited, (objects, *paints) = own == "null", listed
    return is_inherited or paints != ["null", "null"] or (objects != "null" and bool(page.get_images()))
