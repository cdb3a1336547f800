#!/usr/bin/env python3
"""Makes pictures of the documentation site for people to look at, and finds pages that are wider than their window.

usage: look.py [SITE [OUTPUT]]

SITE is what `site.py` has built (.build/site); pictures go to OUTPUT (.build/site-look), one for each page, width and scheme of
colors. Needs Chromium, and is run by hand: `CHROMIUM=/path/to/chromium` names one that is not found as `chromium`.
"""

import functools
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    "documentation", "documentation/mortise", "documentation/mortise/gettingstarted", "documentation/mortise/choosingastore",
    "documentation/mortise/saving", "documentation/mortise/whatisstable", "documentation/mortise/modelcontainer",
    "documentation/mortiseconformance/writingastore", "documentation/mortisecommands/lookingintoastore",
]
SIZES = [(1280, 900), (360, 740)]

# No window of Chromium is as narrow as a phone, so the page is in a frame, which media queries take for the window.
FRAME = """<!doctype html><body style="margin: 0"><script>
const frame = document.body.appendChild(document.createElement("iframe"))
frame.style = "border: 0; width: WIDTHpx; height: HEIGHTpx"
frame.src = "/PAGE"
setInterval(() => {
    const page = frame.contentDocument
    page.body.dataset.colorScheme = "SCHEME"
    if (page.querySelector("h1")) document.body.dataset.found = JSON.stringify(
        [page.documentElement.scrollWidth, getComputedStyle(page.body).backgroundColor])
}, 200)
</script>"""


class Server(http.server.SimpleHTTPRequestHandler):
    """The site, and frames around its pages."""

    def do_GET(self):
        match = re.fullmatch(r"/look/(light|dark)/(\d+)/(\d+)/(.*)", self.path)
        if not match:
            return super().do_GET()
        text = FRAME
        for name, value in zip(["SCHEME", "WIDTH", "HEIGHT", "PAGE"], match.groups()):
            text = text.replace(name, value)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        return self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def look(browser, address, width, height, picture):
    """Writes the picture of a page, and returns its own width and the color of its background."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
            f"--window-size={max(width, 500)},{height}", "--virtual-time-budget=8000", address,
        ]
        subprocess.run([*command[:-1], f"--screenshot={picture}", address], capture_output=True, timeout=120, check=False)
        done = subprocess.run([*command[:-1], "--dump-dom", address], capture_output=True, timeout=120, check=False)
    found = re.search(r'data-found="([^"]*)"', done.stdout.decode(errors="replace"))
    return json.loads(html.unescape(found[1])) if found else None


def main():
    site = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/site").resolve()
    output = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / ".build/site-look").resolve()
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser or not (site / "index.html").is_file():
        sys.exit(f"{'There is no Chromium' if not browser else f'There is no site in {site}'}.\n{__doc__}")
    output.mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    failed = 0
    for page in PAGES:
        colors = {}
        for width, height in SIZES:
            for scheme in ["light", "dark"]:
                address = f"http://127.0.0.1:{server.server_port}/look/{scheme}/{width}/{height}/{page}/"
                picture = output / f"{page.replace('/', '-')}-{width}-{scheme}.png"
                found = look(browser, address, width, height, picture)
                wrong = "does not load" if not found else f"is {found[0]} wide" if found[0] > width else None
                if wrong or colors.setdefault(scheme, found[1]) in [c for s, c in colors.items() if s != scheme]:
                    print(f"{page} at {width}, {scheme}: {wrong or 'light and dark look the same'}")
                    failed += 1
    print(f"{len(PAGES) * len(SIZES) * 2 - failed} passed, {failed} failed, 0 skipped; pictures in {output}")
    sys.exit(1 if failed else 0)


main()
