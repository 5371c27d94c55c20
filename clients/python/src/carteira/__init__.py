"""The Carteira API for Python 3.9 or newer, without dependencies."""

from .client import Carteira, CarteiraError, Feed
from .webhook import WebhookError, verify_webhook

__all__ = ["Carteira", "CarteiraError", "Feed", "WebhookError", "verify_webhook"]
