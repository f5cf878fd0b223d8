"""Names of what lies on a model hub."""

from __future__ import annotations

import re


def check_repository(name: str) -> None:
    """Asks the hub's own rule, so that a name that passes here cannot fail there (80 ms to import, no network).

    Raises:
        ValueError: it is no name of a repository.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise ValueError(f"repository is {name!r}; wanted a name such as OWNER/NAME ({error})") from error


def check_revision(revision: str) -> None:
    """Refuses a branch or tag, which would change under the results.

    Raises:
        ValueError: it is no commit.
    """
    if not re.fullmatch(r"[0-9a-f]{40}", revision, re.ASCII):
        raise ValueError(f"revision is {revision!r}; wanted a commit of 40 hexadecimal digits")
