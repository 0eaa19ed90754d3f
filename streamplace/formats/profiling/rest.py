"""Client of REST APIs, with a time limit for every request."""

import http.client
import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from streamplace.errors import BackendError, FormatError, UsageError
from streamplace.files.reading import decode, parse

MAX_ANSWER_BYTES = 64 * 2**20
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class RefusedError(BackendError):
    """The server has answered with a fault.

    Attributes
    ----------
    answer
        The text of the answer, which may explain the fault.
    status
        The number of the fault in HTTP.
    """

    answer = ""
    status = 0


class GoneError(RefusedError):
    """The server has no such resource, so repeating the request is useless."""


class Server:
    """The web address of a stream-processing system.

    Parameters
    ----------
    url
        ``http://host:port``, with a path if the server is behind a proxy, and ``user:password@``
        before the host if it needs a login. A query and a fragment, as in a browser's address
        (``/#/overview``), are ignored.
    system
        Whose address it should be, for messages.

    Attributes
    ----------
    url
        The address without user and password, for messages.
    asked
        End of a message about a fault, until there is an answer in JSON; then empty.

    Raises
    ------
    UsageError
        If `url` is not a web address.
    """

    def __init__(self, url: str, system: str = "Flink's REST API") -> None:
        self.asked = f"; is this the address of {system}?"
        try:
            parts = urllib.parse.urlsplit(url)
            valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            valid = False
        if not valid or any(letter.isspace() or not letter.isprintable() for letter in url):
            without_password = re.sub(r"^(\w*:?//)?.*@", r"\1…@", url, flags=re.DOTALL)
            raise UsageError(
                f"{without_password!r:.80} is not an address such as http://localhost:8081"
            )
        host = parts.netloc.rpartition("@")[2]
        self.url = f"{parts.scheme}://{host}{parts.path}".rstrip("/")
        self._login = "put user:password@ before the host"
        handlers: list[urllib.request.BaseHandler] = []
        if parts.hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        if parts.username is not None:
            self._login = "check the user and the password"
            user, password = parts.username, parts.password or ""
            handlers.append(_basic_auth(self.url, *map(urllib.parse.unquote, (user, password))))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, within_s: float) -> Any:
        """Return the JSON value at a path.

        Raises
        ------
        GoneError
            If the server has nothing at that path (404).
        BackendError
            If there is no answer in time, or the answer is not JSON.
        """
        return self._answer(urllib.request.Request(self.url + path), path, within_s)

    def send(self, method: str, path: str, body: Any, within_s: float) -> Any:
        """Send a JSON value; return the JSON value of the answer, None if that is empty.

        Parameters
        ----------
        method
            POST, PATCH, PUT or DELETE.
        body
            A JSON value; None: no body.

        Raises
        ------
        RefusedError
            If the server answers with a fault, so that it has not done what was asked.
        BackendError
            If there is no answer in time, so that it may still do what was asked.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        return self._answer(request, path, within_s)

    def upload(self, path: str, field: str, file: Path, kind: str, within_s: float) -> Any:
        """Send a file as the field of a form; return the JSON value of the answer.

        Parameters
        ----------
        kind
            Media type of the file.

        Raises
        ------
        OSError
            If the file cannot be read.
        RefusedError, BackendError
            As `send` does.
        """
        boundary = uuid.uuid4().hex
        name = urllib.parse.quote(file.name)
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"'
        start = f"{head}\r\nContent-Type: {kind}\r\n\r\n".encode()
        data = start + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        request = urllib.request.Request(self.url + path, data, headers, method="POST")
        return self._answer(request, path, within_s)

    def _answer(self, sent: urllib.request.Request, path: str, within_s: float) -> Any:
        request = _Request(self._opener, sent)
        endpoint = path.partition("?")[0]
        request.start()
        request.join(max(within_s, 0.0))
        if request.is_alive():
            raise BackendError(
                f"{self.url}: no answer to {endpoint} within {within_s:.3g} s; "
                "check the address and that the server is running"
            )
        if request.fault:
            raise self._fault(request, endpoint)
        if not request.answer and sent.get_method() != "GET":
            return None
        value = parse_answer(request.answer, self.url + endpoint, request.redirect + self.asked)
        self.asked = ""  # it is the right address
        return value

    def _fault(self, request: "_Request", endpoint: str) -> BackendError:
        message = f"{self.url}: {request.fault} for {endpoint}"
        if not request.status:
            return BackendError(message + request.remedy)
        if request.status == http.client.NOT_FOUND:
            refused: RefusedError = GoneError(message + self.asked)
        elif request.status == http.client.UNAUTHORIZED:
            refused = RefusedError(f"{message}; {self._login}")
        else:
            refused = RefusedError(message)
        refused.status = request.status
        refused.answer = request.answer.decode(errors="replace")
        return refused


def _basic_auth(url: str, user: str, password: str) -> urllib.request.BaseHandler:
    """Return a handler that sends user and password with every request below this address."""
    passwords = urllib.request.HTTPPasswordMgrWithPriorAuth()
    passwords.add_password(None, url, user, password, is_authenticated=True)
    return urllib.request.HTTPBasicAuthHandler(passwords)


def parse_answer(answer: bytes, where: str, asked: str = "") -> Any:
    """Return the JSON value of an answer.

    Parameters
    ----------
    asked
        End of the message about an answer that is not JSON.

    Raises
    ------
    BackendError
        If it is not JSON, or has text that no later request could hold.
    """
    try:
        value = parse(decode(answer, where), where)
        if b"\\ud" in answer.lower():  # perhaps half of a surrogate pair
            json.dumps(value, ensure_ascii=False).encode()
    except FormatError as error:
        raise BackendError(f"{error}{asked}") from None
    except UnicodeEncodeError:
        raise BackendError(f"{where}: a text in the answer is not valid Unicode") from None
    return value


class _Request(threading.Thread):
    """One request in its own thread, so that a slow server cannot block the caller."""

    def __init__(
        self, opener: urllib.request.OpenerDirector, request: urllib.request.Request
    ) -> None:
        super().__init__(daemon=True)
        self._opener, self._request = opener, request
        self.answer = b""
        self.fault = self.remedy = ""
        self.redirect = ""  # the end of a message
        self.status = 0  # of an answer that is a fault

    def run(self) -> None:
        try:
            with self._opener.open(self._request, timeout=600) as answer:
                self.answer = answer.read(MAX_ANSWER_BYTES + 1)
                if answer.url != self._request.full_url:
                    self.redirect = f"; the server redirects to {answer.url!r:.200}"
            if len(self.answer) > MAX_ANSWER_BYTES:
                self.fault = f"the answer exceeds {MAX_ANSWER_BYTES >> 20} MiB"
        except urllib.error.HTTPError as error:
            with error:
                self.answer = _text_of(error)
                target = error.headers.get("Location")
                reason = error.reason if target is None else f"redirect to {target!r:.200}"
                self.fault = f"HTTP {error.code} {reason}".strip()
                self.status = error.code
        except urllib.error.URLError as error:
            self.fault = str(getattr(error.reason, "strerror", None) or error.reason)
            self.remedy = "; check the address and that the server is running"
        except (OSError, http.client.HTTPException, ValueError) as error:
            message = getattr(error, "strerror", None) or str(error)
            self.fault = f"{type(error).__name__}: {message}" if message else type(error).__name__


def _text_of(error: urllib.error.HTTPError) -> bytes:
    """Return the body of a fault, which may be cut short."""
    try:
        return error.read(MAX_ANSWER_BYTES)
    except (OSError, http.client.HTTPException):
        return b""
