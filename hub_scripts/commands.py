"""The commands of `academiceval` about the Hub and the results page: read the arguments, call one function."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from builder.round.licenses import Licenses


def report(arguments: Namespace) -> Iterator[str]:
    """Build the site, and publish it where a Space is named."""
    from hub_scripts.report.site import cutoffs_of
    from hub_scripts.report.site import report as build

    licenses: Licenses = arguments.licenses or ("redistributable" if arguments.space else "all")
    yield from build(arguments.results, arguments.output, licenses, cutoffs_of(arguments.cutoff))
    if arguments.space:
        from hub_scripts.hub.space import push_site

        yield from push_site(arguments.output, arguments.space)


def push(arguments: Namespace) -> Iterator[str]:
    """Publish a dataset folder, or say what that would do."""
    from hub_scripts.hub.push import push as publish

    return publish(arguments.folder, arguments.repo, arguments.licenses, yes=arguments.yes, private=arguments.private)


def verify(arguments: Namespace) -> Iterator[str]:
    """Compare a published revision with its manifest."""
    from hub_scripts.hub.repo import Repo
    from hub_scripts.hub.verify import verify as compare

    return compare(Repo(arguments.repo), arguments.revision)


def yank(arguments: Namespace) -> Iterator[str]:
    """Replace a published revision."""
    from hub_scripts.hub.yank import yank as replace

    return replace(arguments.repo, arguments.revision, arguments.reason, arguments.paper, arguments.takedowns)


def push_results(arguments: Namespace) -> Iterator[str]:
    """Publish results."""
    from hub_scripts.results.publish import push_results as publish

    return publish(arguments.files, arguments.repo, arguments.card, dry_run=arguments.dry_run)
