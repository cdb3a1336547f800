#!/usr/bin/env python3
"""look.py BUILT FOLDER: makes pictures of the inspector's pages, wide, narrow and dark, on the stores of the sample
music-library. BUILT is where the package manager has put the programs."""
import http.cookiejar
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

built, folder = sys.argv[1:3]
pages = {
    "stores": "/", "schema": "/s/0", "records": "/s/0/e/Track?where=milliseconds%20%3E%20300000&sort=-milliseconds",
    "facets": "/s/0/e/Track?facet=%60unitPrice%60", "record": "/s/0/e/Album/1", "history": "/s/0/history",
    "explain": "/s/0/explain?q=Track%20where%20milliseconds%20%3E%20300000%20sort%20-unitPrice%20limit%205",
    "edit": "/s/0/e/Album/1?edit=1", "changes": "/s/0/changes", "missing": "/s/0/e/Nothing",
}
looks = {"wide": ("1280,1000", []), "narrow": ("500,1400", []), "dark": ("1280,1000", ["--blink-settings=preferredColorScheme=0"])}

os.makedirs(folder, exist_ok=True)
with tempfile.TemporaryDirectory() as scratch:
    stores = sys.argv[3:]
    if not stores:
        # Leaves its stores in the folder of its first argument.
        subprocess.run([built + "/music-library"], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        found = [os.path.join(d, f) for d, _, fs in os.walk(scratch) for f in fs if f.endswith((".log", ".json"))]
        stores = sorted(f for f in found if "history" not in f)[:2]
    server = subprocess.Popen([built + "/mortise", "serve", "--edit", *stores], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        origin, token = re.fullmatch(r"(http://[^/]+)/\?token=([0-9a-f]+)", address).groups()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        albums = browser.open(f"{origin}/s/0/e/Album?token={token}").read().decode()
        album = re.search(r'"(/s/0/e/Album/\d+)"', albums)[1]
        for name, page in pages.items():
            page = page.replace("/s/0/e/Album/1", album)
            for look, (size, options) in looks.items():
                target = f"{folder}/{name}-{look}.png"
                if os.path.exists(target):
                    os.remove(target)
                url = f"{origin}{page}{'&' if '?' in page else '?'}token={token}"
                # Chromium makes no window narrower than 500, and no other page may have one of these in a frame.
                subprocess.run(
                    ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     f"--user-data-dir={scratch}/profile", f"--window-size={size}", f"--screenshot={target}",
                     *options, url], timeout=60, check=True, stderr=subprocess.DEVNULL)
                if not os.path.exists(target):
                    sys.exit(f"no picture of {name}")
        print(f"{len(pages) * len(looks)} pictures are in {folder}")
    finally:
        server.terminate()
        server.wait()
