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
