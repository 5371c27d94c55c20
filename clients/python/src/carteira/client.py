"""Calls the API of one installation with one token."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Iterable, Iterator, Mapping, Optional, Union

Query = Union[str, int, bool, None, Iterable[str]]

PASSING = {409, 429, 502, 503, 504}
"""Statuses after which the same call may succeed. 409 is a repeat that met its first attempt still running."""


class CarteiraError(Exception):
    """An answer that is not a success. `errors` has the reasons by field when the status is 422."""

    def __init__(self, status: int, message: str, errors: Optional[dict[str, list[str]]] = None, request_id: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status
        self.errors = errors or {}
        self.request_id = request_id  # quote it when you ask the operator about the call


class _Answer:
    """What came back from one attempt."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers = status, headers
        try:
            self.json: Any = json.loads(body)
        except ValueError:
            self.json = {}
        if not isinstance(self.json, dict):
            self.json = {}

    def error(self) -> CarteiraError:
        message = self.json.get("message") or f"HTTP {self.status}"
        return CarteiraError(self.status, message, self.json.get("errors"), self.headers.get("X-Request-Id"))


class Carteira:
    """Calls the API. Calls are repeated when that does no harm: those that read, and every POST, since each carries an
    `Idempotency-Key`. `Retry-After` is heeded.

    `url` is what the addresses of the installation's pages begin with. `retries` is how often a call is repeated after
    429, 502, 503, 504 or a broken connection, `longest_wait` the longest wait before a repeat and `timeout` how long one
    attempt may take, in seconds.
    """

    def __init__(self, url: str, token: str, *, retries: int = 4, longest_wait: float = 60, timeout: float = 35) -> None:
        if not token:
            raise ValueError("Carteira needs a token")
        self._base = url.rstrip("/") + "/api/v1"
        self._token = token
        self._retries, self._longest, self._timeout = retries, longest_wait, timeout

    def get(self, path: str, **query: Query) -> Any:
        """The record, or the records of one page."""
        return self.call("GET", path, query=query)["data"]

    def post(self, path: str, body: Optional[Mapping[str, Any]] = None, *, idempotency_key: Optional[str] = None, **query: Query) -> Any:
        """Does something once. Give your own key where another process may repeat the request."""
        return self.call("POST", path, query=query, body=body, idempotency_key=idempotency_key)["data"]

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Changes the fields that are sent; None clears one."""
        return self.call("PUT", path, body=body)["data"]

    def delete(self, path: str) -> Any:
        return self.call("DELETE", path)["data"]

    def each(self, path: str, **query: Query) -> Iterator[Any]:
        """Every record of a list, page after page: `for customer in carteira.each("/customers", status="vencido"): …`"""
        page, last = 1, 1
        while page <= last:
            answer = self.call("GET", path, query={"per_page": 200, **query, "page": page})
            yield from answer["data"]
            last = answer["meta"].get("last_page", 1)
            page += 1

    def events(self, after: Optional[str] = None, *, types: Iterable[str] = (), wait: int = 25) -> "Feed":
        """The company's events as webhooks get them, oldest first, each once. See Feed."""
        return Feed(self, after, tuple(types), wait)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Query]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict[str, Any]:
        """The whole answer, with `data`, `meta` and `message`. Raises CarteiraError for a refusal."""
        request = self._request(method, path, query or {}, body, idempotency_key)
        attempt = 0
        while True:
            try:
                answer: Optional[_Answer] = self._attempt(request)
            except (OSError, http.client.HTTPException):
                if attempt >= self._retries or method in ("PUT", "DELETE"):
                    raise
                answer = None  # the connection broke, and whether it was done is not known; repeating is safe
            if answer is not None and answer.status == 200:
                return answer.json
            wait = _delay(answer, attempt, self._longest)
            if answer is not None and (wait is None or attempt >= self._retries):
                raise answer.error()
            time.sleep(wait or 0)
            attempt += 1

    def _request(
        self, method: str, path: str, query: Mapping[str, Query], body: Optional[Mapping[str, Any]], key: Optional[str]
    ) -> urllib.request.Request:
        given = {name: _plain(value) for name, value in query.items() if value is not None}
        address = self._base + path + ("?" + urllib.parse.urlencode(given) if given else "")
        headers = {"Authorization": "Bearer " + self._token, "Accept": "application/json"}
        if method == "POST":
            headers["Idempotency-Key"] = key or str(uuid.uuid4())
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        return urllib.request.Request(address, data=content, headers=headers, method=method)

    def _attempt(self, request: urllib.request.Request) -> _Answer:
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                return _Answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as failure:
            with failure:
                return _Answer(failure.code, failure.headers, failure.read())


class Feed:
    """Events, oldest first: `for event in carteira.events(cursor): …`. It goes on for ever, unless `wait` is 0: then it
    ends where the events do.

    `after` is the cursor at which you stopped, or "latest" for what happens from now on, or None for all that is kept.
    Keep `cursor` with your work, after each event: begin there next time, and nothing is missed and nothing comes twice.
    """

    def __init__(self, client: Carteira, after: Optional[str], types: tuple[str, ...], wait: int) -> None:
        self._client, self._types, self._wait = client, types, wait
        self.cursor = after

    def __iter__(self) -> Iterator[dict[str, Any]]:
        more = True
        while more or self._wait > 0:
            began = time.monotonic()
            answer = self._client.call("GET", "/events", query={
                "after": self.cursor, "types": ",".join(self._types) or None, "limit": 200, "wait": self._wait or None,
            })
            for event in answer["data"]:
                self.cursor = event["id"]
                yield event
            last = answer["meta"].get("last_id")
            if last or self.cursor == "latest":
                self.cursor = last  # None where there is no event yet: then all that is kept is what happens from now on
            more = answer["meta"]["has_more"]
            if not more and not answer["data"] and time.monotonic() - began < self._wait / 2:
                time.sleep(min(self._wait, 5))  # too many wait already: the answer came at once


def _plain(value: Query) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    return ",".join(value or ())


def _delay(answer: Optional[_Answer], attempt: int, longest: float) -> Optional[float]:
    """Seconds to wait before a repeat; None: do not repeat. `answer` is None when the connection broke."""
    if answer is not None and answer.status not in PASSING:
        return None
    told = answer.headers.get("Retry-After") if answer is not None else None
    if answer is not None and answer.status == 409 and not told:
        return None  # a conflict that does not pass
    if told and told.isdigit():
        return float(told) if float(told) <= longest else None
    wait = min(longest, 0.5 * 2**attempt)
    return wait / 2 + random.random() * wait / 2  # so that those who failed together do not come back together
