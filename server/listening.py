"""The address that a server listens on."""

from errno import EADDRINUSE
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOL_SOCKET, socket

from server.settings import Settings


class CannotListen(Exception):
    """The address to serve at cannot be had; the message says why."""


def bound(settings: Settings) -> socket:
    """A socket at the address of the settings, which does not listen yet. Raises CannotListen."""
    listener = socket(AF_INET6 if ":" in settings.host else AF_INET)
    try:
        # A server that has just ended leaves connections behind that would keep its address for a minute.
        listener.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        place = f"port {settings.port} of {settings.host}"
        if error.errno == EADDRINUSE:
            raise CannotListen(f"{place} is in use, perhaps by another Muniment; choose one with --port, or --port 0 for any") from error
        raise CannotListen(f"cannot listen on {place}: {(error.strerror or str(error)).lower()}") from error
    listener.set_inheritable(True)
    return listener


def address(settings: Settings, port: int) -> str:
    """Return the address that people reach the server at."""
    host = f"[{settings.host}]" if ":" in settings.host else {"0.0.0.0": "127.0.0.1"}.get(settings.host, settings.host)  # noqa: S104
    return (settings.public_url or f"http://{host}:{port}").rstrip("/")


def sign_in_address(base: str, code: str) -> str:
    """Return the address that signs in with a code. Browsers send what follows the `#` to nobody."""
    return f"{base}/sign-in#code={code}"
