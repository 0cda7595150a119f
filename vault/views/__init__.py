"""The compiled views: pages for people, written from the records and never read back."""

from vault.views.project import VIEW_NAMES, ProjectViews

__all__ = ["VIEW_NAMES", "ProjectViews"]
