#!/usr/bin/env python3
"""Measures what `@Model` costs a program that uses it: compile time, code, and expansions.

usage: measure.py BUILD [--models N,N,...] [--repeat N]

BUILD is the folder of a release build of the package, whose plugin is thus built like that of `@Observable`, which comes
with the toolchain. Classes of ten properties are compiled as plain classes, with `@Observable` and with `@Model`, in turn
and several times; the least processor time of each counts. The last line is the counts of the checks.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = {
    "plain": ("", ""),
    "@Observable": ("@Observable ", "import Observation\n"),
    "@Model": ("@Model ", "import Mortise\n"),
}

# What a class of an app has: literals, inferred types, optionals, a list, and types of Foundation.
BODY = """    public var number = 0
    public var name: String
    public var ratio = 0.0
    public var created: Date
    public var isDone = false
    public var note: String?
    public var tags: [String] = []
    public var key: UUID
    public var rank: Int?
    public var price: Decimal = 0
    public init(name: String, created: Date, key: UUID) {
        self.name = name
        self.created = created
        self.key = key
    }
"""
PROPERTIES = BODY.count("public var")


def source(kind, models):
    attribute, imports = KINDS[kind]
    classes = (f"{attribute}public final class Item{n} {{\n{BODY}}}\n" for n in range(models))
    return "import Foundation\n" + imports + "".join(classes)


def run(command):
    """Runs a command, and returns its output and its processor time in seconds."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    user = after.children_user - before.children_user
    return done.stdout + done.stderr, user + after.children_system - before.children_system


class Compiler:
    def __init__(self, build, folder):
        self.folder = folder
        sqlite = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "CSQLite" / "module.modulemap"
        self.options = [
            "swiftc", "-swift-version", "6", "-parse-as-library", "-module-name", "Measured",
            "-I", build / "Modules", "-Xcc", f"-fmodule-map-file={sqlite}",
            "-load-plugin-executable", f"{build / 'MortiseMacros-tool'}#MortiseMacros",
        ]

    def compile(self, kind, models, options):
        path = self.folder / "Measured.swift"
        path.write_text(source(kind, models))
        target = self.folder / "Measured.o"
        output, seconds = run([*self.options, *options, "-c", path, "-o", target])
        return output, seconds, target

    def code(self, kind, models):
        """The bytes of instructions, and of all that is read only: constants and unwind tables as well."""
        _, _, target = self.compile(kind, models, ["-O", "-wmo"])
        sections, _ = run(["size", "-A", target])
        sizes = [line.split()[:2] for line in sections.splitlines() if line.startswith(".text")]
        total, _ = run(["size", target])
        return sum(int(size) for _, size in sizes), int(total.splitlines()[1].split()[0])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--models", default="1,10,50,100")
    arguments.add_argument("--repeat", type=int, default=3)
    given = arguments.parse_args()
    counts = [int(n) for n in given.models.split(",")]
    if not (given.build / "MortiseMacros-tool").exists():
        sys.exit(f"{given.build} has no plugin. Build a product that uses @Model in it first.")

    failures = []
    passed = 0

    def check(holds, text):
        nonlocal passed
        print(f"{'holds' if holds else 'failed'}: {text}")
        if holds:
            passed += 1
        else:
            failures.append(text)

    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(given.build, pathlib.Path(folder))
        # The first compilation fills the module cache.
        for kind in KINDS:
            compiler.compile(kind, 1, ["-Onone"])

        times = {}
        for name, options in {"debug": ["-Onone"], "release": ["-O", "-wmo"]}.items():
            print(f"{name}: seconds of processor time, {PROPERTIES} properties a class")
            print(f"{'models':>8}" + "".join(f"{kind:>14}" for kind in KINDS) + f"{'@Model to @Observable':>24}")
            for models in counts:
                best = dict.fromkeys(KINDS, float("inf"))
                for _ in range(given.repeat):
                    for kind in KINDS:
                        best[kind] = min(best[kind], compiler.compile(kind, models, options)[1])
                ratio = best["@Model"] / best["@Observable"]
                times[name, models] = ratio
                cells = "".join(f"{best[kind]:>14.2f}" for kind in KINDS)
                print(f"{models:>8}{cells}{ratio:>24.2f}", flush=True)

        print("code: bytes a class, release")
        # The difference, so that what a module has once does not count.
        small, large = 10, 20
        code = {}
        for kind in KINDS:
            few, many = compiler.code(kind, small), compiler.code(kind, large)
            code[kind] = [(more - less) // (large - small) for less, more in zip(few, many)]
        print(" " * 14 + "".join(f"{kind:>14}" for kind in KINDS))
        for row, name in enumerate(["instructions", "all read only"]):
            print(f"{name:>14}" + "".join(f"{code[kind][row]:>14}" for kind in KINDS))

        dump, _, _ = compiler.compile("@Model", 1, ["-Onone", "-Xfrontend", "-dump-macro-expansions"])
        of_properties = re.findall(r"^@__swiftmacro_\S*_PersistedPropertyf\S+$", dump, re.MULTILINE)
        expansions = len(of_properties) / PROPERTIES
        print(f"expansions a property, beside that of its attribute: {expansions:.0f}")

    for name in ("debug", "release"):
        for models in counts:
            if models >= 10:
                ratio = times[name, models]
                check(ratio <= 1.2, f"{name}, {models} models: {ratio:.2f} times @Observable, at most 1.2")
    instructions, everything = code["@Model"]
    check(instructions <= 8_192, f"code: {instructions} bytes of instructions a model, at most 8,192")
    check(
        everything <= code["@Observable"][1] * 1.05,
        f"code: {everything} bytes a model, no more than the {code['@Observable'][1]} of @Observable, to a twentieth")
    check(expansions <= 2, f"{expansions:.0f} expansions a property, at most 2: its accessors, and what it is checked by")
    print(f"{passed} passed, {len(failures)} failed, 0 skipped")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
