"""The `arxiv` package: the internals that we use.

It turns pages and parses feeds; requests, waiting and retries are our own. A public way would be arguments of
`arxiv.Client` for the service's address and for a session.
"""

from __future__ import annotations

from typing import Protocol

import arxiv


class Session(Protocol):
    """What a client needs from a session."""

    def get(self, url: str, headers: object = None) -> object:
        """An answer with `status_code` and `content`."""
        ...


def client(address: str, page_size: int, session: Session) -> arxiv.Client:
    """A client that asks through a session of ours, once for each page."""
    arxiv_client = arxiv.Client(page_size=page_size, delay_seconds=0, num_retries=0)
    arxiv_client.query_url_format = f"{address}?{{}}"
    arxiv_client._session = session
    return arxiv_client
