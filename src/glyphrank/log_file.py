"""The log beside the results, which a full disk ends and nothing else does."""

from __future__ import annotations

import logging
import sys


class LogFile(logging.FileHandler):
    """A log that tells once, on the other handlers, that it cannot be written; logging would show a traceback a line.

    Named in `conf/hydra/job_logging/glyphrank.yaml`.
    """

    told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's own name
        """Lets every error through to logging but those of the disk."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self.told:
            self.told = True  # before the line, which comes here too
            logging.getLogger("glyphrank").warning(
                "%s cannot be written (%s): lines are missing there", self.baseFilename, error.strerror or error
            )
