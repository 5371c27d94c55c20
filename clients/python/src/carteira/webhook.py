"""The signature of what an installation sends to a webhook."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Any, Mapping, Optional

TOLERANCE = 300
"""How many seconds a timestamp may differ from the clock."""


class WebhookError(Exception):
    """A request that is not from the installation, or not an event. `status` is what to answer with."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str, now: Optional[float] = None) -> dict[str, Any]:
    """Checks the signature and the time of a request and returns its event.

    `body` is what was received, byte for byte, before anything parsed it. One event may come more than once: remember
    its `id`. Raises WebhookError for anything else.
    """
    if not secret:
        raise ValueError("verify_webhook needs the webhook's secret: with an empty one every signature can be made")
    given = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = given.get("x-service-timestamp", ""), given.get("x-service-signature", "")
    want = "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(want.encode(), signature.encode()):
        raise WebhookError(401, "wrong signature")
    now = time.time() if now is None else now
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > TOLERANCE:
        raise WebhookError(408, "sent more than 300 seconds ago, or from the future")
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise WebhookError(400, "not JSON") from None
    if not isinstance(event, dict) or not all(isinstance(event.get(key), str) and event[key] for key in ("event", "id")):
        raise WebhookError(400, "not an event")
    return event
