#!/usr/bin/env python3
"""Builds the documentation site with the toolchain's own docc, and checks it.

usage: site.py BIN OUTPUT

BIN is the folder of a build for debugging, which has the modules; OUTPUT becomes a folder that any web server can serve. A
module fails if docc warns of it, or if a link on one of its pages leads to a page, or to a heading of one, that does not exist. The last
line is the counts of these checks. Links to other sites are counted and not followed.
"""

import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a module's clients see of other modules belongs to its pages.
MODULES = {
    "Mortise": ["MortiseModels", "MortiseCore", "MortiseInMemory", "MortiseJSONFile", "MortiseAppendLog"],
    "MortiseConformance": [],
    "MortiseCommands": [],
}


def tool(name):
    """The toolchain's program of a name, beside its compiler."""
    beside = pathlib.Path(shutil.which("swift") or "swift").resolve().parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def run(command):
    """Runs a command, and returns its status and all that it says."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def convert(module, binaries, folder):
    """Makes the archive of a module, and returns its path and docc's complaints."""
    graphs, archive = folder / f"{module}-graphs", folder / f"{module}.doccarchive"
    graphs.mkdir()
    triple = json.loads(run([tool("swift"), "-print-target-info"])[1])["target"]["triple"]
    command = [
        tool("swift-symbolgraph-extract"), "-module-name", module, "-I", binaries / "Modules", "-target", triple,
        "-Xcc", f"-fmodule-map-file={ROOT / 'Sources' / 'CSQLite' / 'module.modulemap'}", "-minimum-access-level", "public",
        "-skip-synthesized-members", "-skip-inherited-docs", "-output-dir", graphs,
    ]
    if MODULES[module]:
        command.append(f"-experimental-allowed-reexported-modules={','.join(MODULES[module])}")
    status, said = run(command)
    if status != 0:
        return None, [f"{module}: its symbols cannot be read: {said.strip()}"]
    # Extensions of modules of the system are pages that few look for, and whose comments are others'.
    for graph in graphs.glob("*@*.symbols.json"):
        graph.unlink()
    status, said = run([
        tool("docc"), "convert", ROOT / "Sources" / module / f"{module}.docc", "--additional-symbol-graph-dir", graphs,
        "--fallback-display-name", module, "--fallback-bundle-identifier", f"mortise.{module}",
        "--fallback-default-module-kind", "Library", "--output-path", archive,
    ])
    complaints = re.findall(r"^.*(?:warning|error): .*(?:\n(?! *$).*)*", said, re.MULTILINE)
    if status != 0 and not complaints:
        complaints = [f"docc ended with status {status}: {said.strip()}"]
    return archive, complaints


def destinations(page):
    """The links of a page: pairs of kind and destination. docc itself warns of links to symbols that do not exist."""
    for reference in page.get("references", {}).values():
        kind = reference.get("type")
        if kind in ("topic", "section"):
            yield "page", reference.get("url", "")
        elif kind == "link":
            destination = reference.get("url", "")
            yield ("other" if re.match(r"[a-z]+:", destination) else "page"), destination
        elif kind in ("image", "download"):
            for variant in reference.get("variants", [{"url": reference.get("url", "")}]):
                yield "file", variant["url"]


def anchors(path):
    """The headings of a page, which a fragment can name, in lower case."""
    found, rest = set(), [json.loads(path.read_text())]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            found.update([part["anchor"].lower()] if isinstance(part.get("anchor"), str) else [])
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return found


def check(archive, module):
    """The number of a module's pages and links, and the links that lead nowhere."""
    data = archive / "data"
    own = data / "documentation" / module.lower()
    pages, links, dead = 0, 0, []
    for path in [own.with_suffix(".json"), *own.rglob("*.json")]:
        page = json.loads(path.read_text())
        pages += 1
        for kind, destination in destinations(page):
            links += 1
            target, _, fragment = destination.partition("#")
            target = target.strip("/").lower()
            file = data / f"{target}.json" if target else path
            exists = {
                "page": bool(target or fragment) and file.is_file()
                and (not fragment or urllib.parse.unquote(fragment).lower() in anchors(file)),
                "file": (archive / destination.lstrip("/")).is_file(),
                "other": True,
            }[kind]
            if not exists:
                dead.append(f"{path.relative_to(data).with_suffix('')} leads to {destination}")
    return pages, links, dead


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binaries, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda module: convert(module, binaries, folder), MODULES))
        for module, (_, complaints) in zip(MODULES, results):
            for complaint in complaints:
                print(complaint)
            print(f"{'failed' if complaints else 'passed'}: {module}: {len(complaints)} warnings")
            passed, failed = (passed, failed + 1) if complaints else (passed + 1, failed)
        archives = [archive for archive, _ in results if archive and archive.exists()]
        if len(archives) == len(MODULES):
            if output.exists():
                shutil.rmtree(output)
            output.parent.mkdir(parents=True, exist_ok=True)
            status, said = run([
                tool("docc"), "merge", *archives, "--synthesized-landing-page-name", "Mortise",
                "--synthesized-landing-page-topics-style", "list",
                "--output-path", output,
            ])
            if status != 0:
                print(f"failed: the archives cannot be merged: {said.strip()}")
                failed += 1
        for module in MODULES:
            if not (output / "data/documentation" / f"{module.lower()}.json").exists():
                print(f"failed: {module}: there is no page to check")
                failed += 1
                continue
            pages, links, dead = check(output, module)
            for line in dead:
                print(line)
            print(f"{'failed' if dead else 'passed'}: {module}: {pages} pages, {links} links, {len(dead)} of them dead")
            passed, failed = (passed, failed + 1) if dead else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
