"""Where there is no Chromium, the page is not tested in one; CI installs it."""

from __future__ import annotations

from browser import chromium

collect_ignore = [] if chromium() else ["test_page_browser.py"]


def pytest_report_header() -> str:
    """One line at the top of a run."""
    return f"browser: {chromium() or 'none: the status page is not tested in one (apt-get install chromium)'}"
