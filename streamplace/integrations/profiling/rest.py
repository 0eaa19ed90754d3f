"""REST APIs of engines: one question, one answer, never later than asked for."""

import http.client
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from streamplace.errors import BackendError, FormatError, UsageError
from streamplace.files.reading import decode, parse

LARGEST = 64 * 2**20
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class GoneError(BackendError):
    """The server knows no such thing: asking again is no use."""


class Server:
    """The web address of an engine.

    Parameters
    ----------
    url
        ``http://host:port``, with a path if it stands behind a proxy, and ``user:password@`` before
        the host if it asks for them. A query and a fragment, as a browser shows (``/#/overview``),
        are left out.

    Attributes
    ----------
    url
        The address without user and password, as messages tell it.

    Raises
    ------
    UsageError
        If `url` is no address of the web.
    """

    def __init__(self, url: str) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            found = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            found = False
        if not found or any(letter.isspace() or not letter.isprintable() for letter in url):
            shown = re.sub(r"^(\w*:?//)?.*@", r"\1…@", url, flags=re.DOTALL)  # no password
            raise UsageError(f"{shown!r:.80} is no address such as http://localhost:8081")
        host = parts.netloc.rpartition("@")[2]
        self.url = f"{parts.scheme}://{host}{parts.path}".rstrip("/")
        handlers: list[urllib.request.BaseHandler] = []
        if parts.hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        if parts.username is not None:
            user, password = parts.username, parts.password or ""
            handlers.append(_known(self.url, *map(urllib.parse.unquote, (user, password))))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, within_s: float) -> Any:
        """Return the JSON value at a path.

        Raises
        ------
        GoneError
            If there is none (404).
        BackendError
            If there is no answer within the time, or another answer than JSON.
        """
        asked = _Question(self._opener, self.url + path)
        what = path.partition("?")[0]
        asked.start()
        asked.join(max(within_s, 0.0))
        if asked.is_alive():
            raise BackendError(f"{self.url}: no answer to {what} within {within_s:.3g} s")
        if asked.gone:
            raise GoneError(f"{self.url}: {asked.fault} for {what}")
        if asked.fault:
            raise BackendError(f"{self.url}: {asked.fault} for {what}")
        return parse_answer(asked.answer, self.url + what)


def _known(url: str, user: str, password: str) -> urllib.request.BaseHandler:
    """Return who tells user and password unasked, below this address and nowhere else."""
    told = urllib.request.HTTPPasswordMgrWithPriorAuth()
    told.add_password(None, url, user, password, is_authenticated=True)
    return urllib.request.HTTPBasicAuthHandler(told)


def parse_answer(answer: bytes, where: str) -> Any:
    """Return the JSON value of an answer; BackendError if it is none."""
    try:
        return parse(decode(answer, where), where)
    except FormatError as error:
        raise BackendError(str(error)) from None


class _Question(threading.Thread):
    """One request; a server that drips its answer holds up nobody but this thread."""

    def __init__(self, opener: urllib.request.OpenerDirector, url: str) -> None:
        super().__init__(daemon=True)
        self._opener, self._url = opener, url
        self.answer = b""
        self.fault = ""
        self.gone = False

    def run(self) -> None:
        try:
            with self._opener.open(self._url, timeout=600) as answer:
                self.answer = answer.read(LARGEST + 1)
            if len(self.answer) > LARGEST:
                self.fault = f"an answer of more than {LARGEST >> 20} MiB"
        except urllib.error.HTTPError as error:
            with error:
                self.gone = error.code == http.client.NOT_FOUND
                self.fault = f"HTTP {error.code} {error.reason}".strip()
        except urllib.error.URLError as error:
            self.fault = str(getattr(error.reason, "strerror", None) or error.reason)
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = getattr(error, "strerror", None) or str(error)
            self.fault = f"{type(error).__name__}: {said}" if said else type(error).__name__
