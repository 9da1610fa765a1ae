"""A real browser without a window: what a page looks like once its scripts have run."""

import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser: install Debian's package chromium")


def rendered(address: str) -> str:
    """The document behind an address after its scripts have run for a minute of the page's own time."""
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,1200"]
    command += ["--virtual-time-budget=60000", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
