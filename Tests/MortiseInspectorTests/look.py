#!/usr/bin/env python3
"""look.py BUILT FOLDER [STORE…]: looks at the inspector's pages in Chromium, on the stores of the sample music-library or on others.

Makes a picture of each page, wide (1280), narrow (360) and dark, and finds what a program can find: pages that are wider than their
window, controls that the keyboard does not reach or whose focus is not seen, controls without a name, text with too little contrast,
messages of the browser. BUILT is where the package manager has put the programs. Ends with a status other than 0 if something is found.
Needs chromium and its driver, which Debian has as chromium-driver."""
import http.cookiejar
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PAGES = {
    "stores": "/", "schema": "/s/0", "records": "/s/0/e/Track?where=milliseconds%20%3E%20300000&sort=-milliseconds",
    "facets": "/s/0/e/Track?facet=%60unitPrice%60", "record": "ALBUM", "history": "/s/0/history",
    "transaction": "/s/0/history/1", "undo": "/s/0/history/LAST/undo", "difference": "/s/0/difference?from=1&to=LAST",
    "storage": "STORAGE", "explain": "/s/0/explain?q=Track%20where%20milliseconds%20%3E%20300000%20sort%20-unitPrice%20limit%205",
    "compare": "/compare?a=0&b=1", "edit": "ALBUM?edit=1", "changes": "/s/0/changes", "missing": "/s/0/e/Nothing",
    "sql": "/s/SQL/sql?q=SELECT%20*%20FROM%20Track%20LIMIT%2020",
}
LOOKS = {"wide": (1280, 1000, "light"), "narrow": (360, 740, "light"), "dark": (1280, 1000, "dark"), "narrow-dark": (360, 740, "dark")}

# What a program can see of a page, in the page.
CHECK = r"""
const found = [];
const width = document.documentElement.clientWidth;
if (document.scrollingElement.scrollWidth > width) {
  const wide = [...document.body.querySelectorAll("*")].filter(e => {
    const r = e.getBoundingClientRect();
    if (r.width === 0 || r.right <= width + 1) return false;
    for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
      if (/auto|hidden|scroll/.test(getComputedStyle(p).overflowX)) return false;
    return true;
  });
  found.push("wider than the window: " + document.scrollingElement.scrollWidth + ", " +
    wide.slice(0, 3).map(e => e.tagName + "." + e.className).join(" "));
}
const shown = e => e.checkVisibility({ checkVisibilityCSS: true }) && e.getBoundingClientRect().width > 0;
const controls = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")].filter(shown);
for (const e of controls) {
  const label = e.labels && e.labels.length ? [...e.labels].map(l => l.textContent).join("") : "";
  const name = (e.getAttribute("aria-label") || label || e.textContent || e.title || "").trim();
  if (!name) found.push("no name: " + e.outerHTML.slice(0, 120));
}
const color = text => {
  const m = text.match(/rgba?\(([^)]+)\)/);
  if (!m) return null;
  const [r, g, b, a = 1] = m[1].split(/[ ,\/]+/).map(Number);
  return { r, g, b, a };
};
const light = c => {
  const [r, g, b] = [c.r, c.g, c.b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = color(getComputedStyle(e).backgroundColor);
    if (c && c.a > 0.99) return c;
  }
  return { r: 255, g: 255, b: 255, a: 1 };
};
const poor = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !shown(e) || e.closest("svg, .skip")) continue;
  const style = getComputedStyle(e), text = color(style.color);
  if (!text) continue;
  const [a, b] = [light(text), light(behind(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && +style.fontWeight >= 700);
  if (ratio < (isLarge ? 3 : 4.5)) poor.add(e.tagName + "." + e.className + " " + ratio.toFixed(2));
}
if (poor.size) found.push("contrast: " + [...poor].slice(0, 5).join(", "));
if (document.querySelectorAll("h1").length !== 1) found.push("h1: " + document.querySelectorAll("h1").length);
return { found, controls: controls.length };
"""

FOCUS = r"""
const e = document.activeElement;
if (!e || e === document.body) return null;
window.marks = window.marks || new Map();
if (!window.marks.has(e)) window.marks.set(e, window.marks.size);
const s = getComputedStyle(e);
return { mark: window.marks.get(e), seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0, html: e.outerHTML.slice(0, 120) };
"""


class Browser:
    """Chromium, by its driver's protocol."""

    def __init__(self, profile):
        port = 9515
        self.driver = subprocess.Popen([shutil.which("chromedriver") or "chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"],
            "binary": shutil.which("chromium") or "chromium",
        }
        for _ in range(100):
            try:
                answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                    "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        self.session = f"/session/{answer['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit(f"the driver: {error.read().decode()[:500]}")

    def chrome(self, command, **parameters):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height, scheme):
        self.chrome("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        self.call("POST", self.session + "/url", {"url": address})

    def run(self, script):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": []})

    def press(self, key):
        self.call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def picture(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.chrome("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]))

    def messages(self):
        return [entry["message"] for entry in self.call("POST", self.session + "/se/log", {"type": "browser"})
                if "status of 404" not in entry["message"] and entry["level"] in ("SEVERE", "WARNING")]

    def close(self):
        self.call("DELETE", self.session)
        self.driver.terminate()
        self.driver.wait()


def keyboard(browser):
    """What Tab does not reach, and what it reaches unseen."""
    controls = browser.run(CHECK)["controls"]
    browser.run("document.body.focus(); window.marks = new Map(); getSelection().removeAllRanges();")
    found, marks = [], set()
    for _ in range(min(controls, 150) + 20):
        browser.press("\ue004")
        focus = browser.run(FOCUS)
        if focus is None:
            break
        if not focus["seen"]:
            found.append("focus is not seen: " + focus["html"])
        marks.add(focus["mark"])
    if len(marks) < min(controls, 150):
        found.append(f"Tab reaches {len(marks)} of {controls} controls")
    return found


def behaves(browser, origin):
    """What keys and scripts do, as people use them."""
    found = []
    browser.size(1280, 1000, "light")
    browser.open(origin + "/s/0/e/Track")
    browser.press("/")
    if browser.run("return document.activeElement.id") != "where":
        found.append("/ does not go to the query")
    for letter in 'name beginsWith "A"':
        browser.press(letter)
    browser.press("\ue007")
    for _ in range(100):
        if "where=" in browser.run("return location.search"):
            break
        time.sleep(0.05)
    else:
        found.append("Enter does not ask")
    browser.press("j")
    browser.press("j")
    if not browser.run("return document.activeElement.matches('table.records tbody th a')"):
        found.append("j does not go to a row")
    browser.press("n")
    for _ in range(100):
        if "after=" in browser.run("return location.search"):
            break
        time.sleep(0.05)
    else:
        found.append("n does not go to the next page")
    return found


def main():
    built, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    # Found by the test's end, also where somebody stops it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        stores = sys.argv[3:]
        if not stores:
            # Leaves its stores in the folder of its first argument.
            subprocess.run([built + "/music-library"], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
            files = [os.path.join(d, f) for d, _, fs in os.walk(scratch) for f in fs if f.endswith((".log", ".json", ".sqlite", ".db"))]
            stores = sorted((f for f in files if "history" not in f), key=lambda f: (not f.endswith(".log"), f))[:3]
        sql = next((n for n, store in enumerate(stores) if store.startswith("sqlite:") or store.endswith((".sqlite", ".db"))), None)
        server = subprocess.Popen([built + "/mortise", "serve", "--edit", *stores], stdout=subprocess.PIPE, text=True)
        browser = None
        try:
            address = server.stdout.readline().strip()
            origin, token = re.fullmatch(r"(http://[^/]+)/\?token=([0-9a-f]+)", address).groups()
            client = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
            albums = client.open(f"{origin}/s/0/e/Album?token={token}").read().decode()
            album = re.search(r'"(/s/0/e/Album/\d+)"', albums)[1]
            last = json.load(client.open(f"{origin}/s/0/version"))["version"]
            browser = Browser(scratch + "/profile")
            browser.open(address)
            for name, page in PAGES.items():
                if (sql is None and "SQL" in page) or (len(stores) < 2 and name == "compare"):
                    continue
                page = page.replace("ALBUM", album).replace("STORAGE", album.replace("/e/", "/storage/")).replace("LAST", last)
                page = page.replace("SQL/", f"{sql}/")
                for look, (width, height, scheme) in LOOKS.items():
                    browser.size(width, height, scheme)
                    browser.open(origin + page)
                    browser.picture(f"{folder}/{name}-{look}.png")
                    faults += [f"{name}, {look}: {fault}" for fault in browser.run(CHECK)["found"]]
                browser.size(1280, 1000, "light")
                browser.open(origin + page)
                faults += [f"{name}, keyboard: {fault}" for fault in keyboard(browser)]
                faults += [f"{name}: {message}" for message in browser.messages()]
            faults += behaves(browser, origin)
            print(f"{len(os.listdir(folder))} pictures are in {folder}")
        finally:
            if browser:
                browser.close()
            server.terminate()
            server.wait()
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
