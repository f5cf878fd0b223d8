"""`glyphrank sync`: sends to MLflow what could not be sent, and closes the runs of dead processes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glyphrank.errors import ConfigError
from glyphrank.redaction import RedactingFilter, redact_text

if TYPE_CHECKING:
    from glyphrank.tracking.pending import Sent


def run_sync(argv: Sequence[str]) -> int:
    """The command: prints what it did and returns the exit code.

    0: nothing is left to send or to look at, but for what another process is at; 1: something still waits or failed;
    2: wrong use.
    """
    parser = _parser()
    try:
        options = parser.parse_args(argv)
        outputs = options.outputs or Path(os.environ.get("GLYPHRANK_OUTPUTS") or "outputs")
        _check(outputs, options.store)
    except SystemExit as leave:
        return int(leave.code or 0)
    except ConfigError as error:
        sys.stderr.write(f"glyphrank: {error}\n")
        return 2
    _log_to_the_terminal()
    done = _synced(outputs, options.store, options.host)
    sys.stdout.write(json.dumps(done, ensure_ascii=False, indent=1) + "\n" if options.json else _told(done))
    return 1 if done["waiting"] or done["troubles"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank sync",
        description="Sends to MLflow the runs that wait in OUTPUTS/pending, each once and with its own times, and "
        "closes as KILLED the runs of this machine whose process ended without a word. Credentials of a server are "
        "read from --store, MLFLOW_TRACKING_URI, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD.",
        epilog="Exit code: 0 nothing is left, or only what is running or being sent by another sync; 1 something still "
        "waits or a store failed; 2 wrong use.",
    )
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="default: GLYPHRANK_OUTPUTS, else outputs")
    parser.add_argument(
        "--store",
        metavar="URI",
        help="only this store (default: all that runs wait for, that of OUTPUTS, and MLFLOW_TRACKING_URI)",
    )
    parser.add_argument(
        "--host", metavar="NAME", help="close the RUNNING runs of this machine too: none of its processes runs any more"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _check(outputs: Path, store: str | None) -> None:
    """Raises ConfigError for a folder that is not there and a URI that is none."""
    from glyphrank.tracking.uris import check_form, remember_uri

    if not outputs.is_dir():
        raise ConfigError(f"{outputs}: there is no such folder; name the folder of outputs with --outputs")
    if store is not None and not Path(store).is_file():
        check_form(store, "--store")
        remember_uri(store)


def _synced(outputs: Path, store: str | None, host: str | None) -> dict[str, Any]:
    """What was done: `logged`, `waiting`, `busy`, `closed`, `other_hosts`, `troubles`."""
    from glyphrank.tracking.existing import shown_store
    from glyphrank.tracking.pending import send_pending
    from glyphrank.tracking.stale import close_stale

    sent = send_pending(outputs, store=store, host=host)
    troubles, stale = list(sent.troubles), []
    for each in [store] if store else _stores(outputs, sent):
        if shown_store(each).rstrip("/") in sent.down:
            continue
        try:
            stale += [{"store": shown_store(each), **asdict(run)} for run in close_stale(each, host, sent.events)]
        except ConfigError as error:
            first, *advice = str(error).splitlines()
            if not any(trouble.startswith(first) for trouble in troubles):
                troubles.append("; ".join([first, *advice]))
    return {
        "logged": [dict(run) for run in sent.runs],
        "waiting": sent.waiting,
        "busy": [redact_text(each) for each in sent.busy],
        "closed": [run for run in stale if run["closed"]],
        "other_hosts": [run for run in stale if not run["closed"]],
        "troubles": [redact_text(trouble) for trouble in troubles],
    }


def _stores(outputs: Path, sent: Sent) -> list[str]:
    """The stores to look for stale runs in: those that were reached, that of the outputs, and the environment's."""
    from glyphrank.tracking.existing import local_store, shown_store
    from glyphrank.tracking.uris import full_uri

    found = [run["store"] for run in sent.runs]
    found = [store if Path(store).is_file() else full_uri(store) for store in found]
    found += [local_store(outputs)] if (outputs / "mlflow.db").is_file() else []
    found += [own] if (own := os.environ.get("MLFLOW_TRACKING_URI", "").strip()) else []
    return list({shown_store(store): store for store in found}.values())


def _told(done: dict[str, Any]) -> str:
    lines = [
        f"logged: {run['name']} ({run['run_id'] or 'deleted in the store'}) in {run['store']}" for run in done["logged"]
    ]
    lines += [f"closed as KILLED: {run['name']} ({run['run_id']}) of {run['host']}" for run in done["closed"]]
    lines += [
        f"left RUNNING: {run['name']} ({run['run_id']}) of {run['host']}; --host {run['host']} closes it, if nothing "
        "of it runs there any more"
        for run in done["other_hosts"]
    ]
    lines += [f"left alone: {each}" for each in done["busy"]]
    lines += [f"trouble: {trouble}" for trouble in done["troubles"]]
    busy = f", {len(done['busy'])} left alone" if done["busy"] else ""
    lines.append(f"{len(done['logged'])} logged, {done['waiting']} waiting, {len(done['closed'])} closed{busy}")
    return "\n".join(lines) + "\n"


def _log_to_the_terminal() -> None:
    """Warnings, without secrets."""
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.addFilter(RedactingFilter())
        logging.getLogger().addHandler(handler)
