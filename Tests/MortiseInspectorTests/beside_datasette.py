#!/usr/bin/env python3
"""beside_datasette.py MORTISE DATASETTE FILE ENTITY COLUMN: how long pages of one file of SQLite take in the inspector and in datasette.

Both answer the same questions by turns, fifteen times: the first page, and one that is sorted by a column with an index. Prints the least
and the median of milliseconds. MORTISE and DATASETTE are programs (datasette installs from PyPI); FILE is a store of `sqlite:`. Datasette is
asked twice: as it is, and without the facets that it looks for on its own. Run by hand."""
import http.client
import pathlib
import re
import statistics
import subprocess
import sys
import time


def ask(host, path, headers):
    begun = time.perf_counter()
    connection = http.client.HTTPConnection(host, timeout=120)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        sys.exit(f"{host}{path}: status {answer.status}")
    return (time.perf_counter() - begun) * 1000


def figures(times):
    return f"{min(times):.1f} ({statistics.median(times):.1f})"


def main():
    mortise, datasette, file, entity, column = sys.argv[1:6]
    name, port = pathlib.Path(file).stem, 8765
    pages = {
        "first page": (f"/s/0/e/{entity}", f"/{name}/{entity}?_size=50"),
        "sorted": (f"/s/0/e/{entity}?sort=-{column}", f"/{name}/{entity}?_sort_desc={column}&_size=50"),
    }
    inspector = subprocess.Popen([mortise, "serve", "sqlite:" + file], stdout=subprocess.PIPE, text=True)
    try:
        host, token = re.match(r"http://([^/]+)/\?token=(\w+)", inspector.stdout.readline()).groups()
        connection = http.client.HTTPConnection(host)
        connection.request("GET", "/?token=" + token)
        cookie = connection.getresponse().getheader("set-cookie").split(";")[0]
        for label, options in {"as it is": [], "without facets": ["--setting", "suggest_facets", "off"]}.items():
            other = subprocess.Popen(
                [datasette, "serve", file, "-p", str(port), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                for _ in range(300):
                    try:
                        ask(f"127.0.0.1:{port}", "/-/versions.json", {})
                        break
                    except OSError:
                        time.sleep(0.1)
                for title, (own, others) in pages.items():
                    ours, theirs = [], []
                    for _ in range(15):
                        ours.append(ask(host, own, {"Cookie": cookie}))
                        theirs.append(ask(f"127.0.0.1:{port}", others, {}))
                    print(f"{title}: inspector {figures(ours)} ms, datasette {label} {figures(theirs)} ms", flush=True)
            finally:
                other.terminate()
                other.wait()
    finally:
        inspector.terminate()
        inspector.wait()


main()
