"""A made-up S3: as much of its API as reading files takes (ListObjectsV2, HeadObject, GetObject with ranges).

https://docs.aws.amazon.com/AmazonS3/latest/API/
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from standins.serving import JsonHandler, Quiet, serving


@dataclass
class Bucket:
    """What a bucket holds, and how its server behaves.

    Attributes:
        objects: key -> content.
        failures: how many of the next requests are answered with `status`.
        seconds: until each answer.
        log: the requests, as `GET key`.
    """

    name: str
    objects: Mapping[str, bytes]
    failures: int = 0
    status: int = 503
    seconds: float = 0.0
    log: list[str] = field(default_factory=list)


@contextmanager
def s3_server(bucket: Bucket) -> Iterator[str]:
    """Serves one bucket; gives the address for `AWS_ENDPOINT_URL`."""

    class Handler(JsonHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            name, _, key = unquote(address.path).removeprefix("/").partition("/")
            bucket.log.append(f"{self.command} {key}")
            time.sleep(bucket.seconds)
            if bucket.failures:
                bucket.failures -= 1
                self._answer(bucket.status, b"")
            elif not key and name == bucket.name:
                prefix = parse_qs(address.query).get("prefix", [""])[0]
                self._answer(200, _listing(bucket, prefix))
            elif name == bucket.name and key in bucket.objects:
                self._give(bucket.objects[key])
            else:
                self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

        def _give(self, data: bytes) -> None:
            headers = {"ETag": f'"{_tag(data)}"', "Last-Modified": "Sun, 01 Nov 2026 00:00:00 GMT"}
            if found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
                first, last = int(found[1]), min(int(found[2] or len(data)), len(data) - 1)
                headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
                self._answer(206, data[first : last + 1], headers)
            else:
                self._answer(200, data, headers)

        def _answer(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send(status, data, {"Content-Type": "application/xml", **(headers or {})})

    with serving(Quiet(("127.0.0.1", 0), Handler)) as address:
        yield address


def _listing(bucket: Bucket, prefix: str) -> bytes:
    found = "".join(
        f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-01T00:00:00.000Z</LastModified>"
        f"<ETag>&quot;{_tag(data)}&quot;</ETag><Size>{len(data)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for key, data in sorted(bucket.objects.items())
        if key.startswith(prefix)
    )
    return (
        '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{bucket.name}</Name><Prefix>{escape(prefix)}</Prefix><IsTruncated>false</IsTruncated>{found}"
        "</ListBucketResult>"
    ).encode()


def _tag(data: bytes) -> str:
    return md5(data, usedforsecurity=False).hexdigest()
