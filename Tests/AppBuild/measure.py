#!/usr/bin/env python3
"""Measures what an app builds to use Mortise: a package of one model, which depends on a clone of this repository.

usage: measure.py [--commit COMMIT] [--trait NAME]...

The app is built for debugging from nothing, with two jobs. The clone has what is committed. The last line is the counts of
the checks, which hold without traits: nothing is fetched but swift-syntax and swift-log, and no module is compiled both for the
app and for the macros.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

MANIFEST = """// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "%s", branch: "measured"%s)],
    targets: [.executableTarget(name: "App", dependencies: [%s])]
)
"""

PROGRAM = """import Foundation
import Mortise

@Model
final class Trip {
    var name: String

    init(name: String) { self.name = name }
}

let container = try ModelContainer(for: Trip.self, store: "json:trips.json")
let context = ModelContext(container)
context.insert(Trip(name: "Across the Alps"))
try context.save()
print(try context.fetchCount(FetchDescriptor<Trip>()))
"""

# The same with one store, and none of the others.
PROGRAM_OF_ONE_STORE = PROGRAM.replace("import Mortise\n", "import MortiseAppendLog\nimport MortiseModels\n").replace(
    'store: "json:trips.json")', 'configurations: AppendLogConfiguration(path: "trips.log"))')


def products(*names):
    return ", ".join(f'.product(name: "{name}", package: "Mortise")' for name in names)


def run(command, folder):
    """Runs a command, and returns its output and its processor time in seconds."""
    before = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    user = after.children_user - before.children_user
    return done.stdout, user + after.children_system - before.children_system


def strings(block, key):
    found = re.search(rf"^    {key}: \[(.*)\]$", block, re.MULTILINE)
    return re.findall(r'"([^"]+)"', found.group(1)) if found else []


def compiled(manifest):
    """The object files of a plain build by package and module, as the build's own plan has them."""
    producers, inputs = {}, {}
    for block in re.split(r'\n  (?=")', manifest[manifest.index("\ncommands:\n"):])[1:]:
        name = re.match(r'"([^"]+)":', block).group(1)
        inputs[name] = strings(block, "inputs")
        for output in strings(block, "outputs"):
            producers[output] = name
    pending = re.findall(r'"([^"]+)"', re.search(r'^  "main": \[(.*)\]$', manifest, re.MULTILINE).group(1))
    seen = set()
    while pending:
        command = producers.get(pending.pop())
        if command and command not in seen:
            seen.add(command)
            pending += inputs[command]
    modules = collections.defaultdict(collections.Counter)
    for output, command in producers.items():
        place = re.search(r"/([^/]+)\.build/.*(?<!\.swiftmodule)\.o$", output)
        if command in seen and place:
            sources = [path for path in inputs[command] if re.search(r"\.(swift|c)$", path)]
            checkout = next((re.search(r"/checkouts/([^/]+)/", path) for path in sources), None)
            modules[checkout.group(1) if checkout else "App"][place.group(1)] += 1
    return modules


def size(folder):
    """What a folder takes on the disk, in MB."""
    return sum(path.lstat().st_blocks for path in folder.rglob("*")) * 512 / 2**20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--trait", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        clone, app = folder / "Mortise", folder / "App"
        run(["git", "clone", "--quiet", "--bare", ROOT, clone], folder)
        commit = run(["git", "rev-parse", options.commit], ROOT)[0].strip()
        run(["git", "branch", "--force", "measured", commit], clone)
        (app / "Sources/App").mkdir(parents=True)
        traits = ", traits: [%s]" % ", ".join(f'"{trait}"' for trait in options.trait) if options.trait else ""
        (app / "Package.swift").write_text(MANIFEST % (clone.as_uri(), traits, products("Mortise")))
        (app / "Sources/App/main.swift").write_text(PROGRAM)

        run(["swift", "package", "resolve"], app)
        output, time = run(["swift", "build", "-j", "2"], app)
        checkouts = app / ".build/checkouts"
        fetched = sorted(path.name for path in checkouts.iterdir() if path.name != "Mortise")
        modules = compiled((app / ".build/debug.yaml").read_text())
        names = {module for package in modules.values() for module in package}
        twice = sorted(module for module in names if f"{module}-tool" in names)
        steps = max(int(count) for count in re.findall(r"^\[\d+/(\d+)\]", output, re.MULTILINE))

        megabytes = sum(size(checkouts / package) for package in fetched)
        print(f"{len(fetched)} packages fetched, {megabytes:.0f} MB of checkouts: {', '.join(fetched)}")
        for package, counts in sorted(modules.items()):
            print(f"{package}: {len(counts)} modules, {sum(counts.values())} object files")
        print(f"{steps} steps, {time:.0f} s of processor time; the load is {os.getloadavg()[0]:.1f}")
        print(f"compiled twice: {', '.join(twice) or 'nothing'}")

        faults = []
        if set(fetched) - {"swift-log", "swift-syntax"} and not options.trait:
            faults.append("more is fetched than swift-log and swift-syntax")
        if twice:
            faults.append("modules are compiled twice")
        answer = run([app / ".build/debug/App"], app)[0]
        if answer != "1\n":
            faults.append(f"the app found {answer}")
        # In the same folder: what both build is there.
        (app / "Package.swift").write_text(
            MANIFEST % (clone.as_uri(), traits, products("MortiseModels", "MortiseAppendLog")))
        (app / "Sources/App/main.swift").write_text(PROGRAM_OF_ONE_STORE)
        run(["swift", "build", "-j", "2"], app)
        modules = compiled((app / ".build/debug.yaml").read_text())
        others = {"Mortise", "MortiseInMemory", "MortiseJSONFile", "MortiseSQLite", "MortisePostgreSQL"}
        unasked = sorted(others & {module for package in modules.values() for module in package})
        print(f"with one store: {sum(sum(counts.values()) for counts in modules.values())} object files")
        if unasked:
            faults.append(f"an app of one store compiles {', '.join(unasked)}")
        answer = run([app / ".build/debug/App"], app)[0]
        if answer != "1\n":
            faults.append(f"the app of one store found {answer}")
        for fault in faults:
            print(f"failed: {fault}")
        print(f"{5 - len(faults)} passed, {len(faults)} failed, 0 skipped")
        sys.exit(1 if faults else 0)


main()
