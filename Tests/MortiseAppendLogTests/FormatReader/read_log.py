#!/usr/bin/env python3
"""Reads an append log with its checkpoint and prints what it holds as JSON.   Usage: read_log.py PATH

Written from Adapters/AppendLog/FORMAT.md and CHECKPOINT.md and Adapters/SCHEMA.md alone, to show that they say enough.
Whatever contradicts the pages is a ValueError that names the file and the offset.
"""
import json, os, sys
from log_format import Reader, Schema, crc, header, value
from read_checkpoint import read_checkpoint

def transaction(r, schema, records, external):
    """Decodes a transaction and, where there are records, applies it to them."""
    found = dict(time=f"{r.number(8):016x}", bits=r.number(1))
    found.update(author=r.text() if found["bits"] & 1 else None, process=r.text(), bundle=r.text(), next=r.varint())
    if records is not None and found["bits"] & 2: records.update({name: {} for name in schema.names})
    def pairs(entity): return dict(r.list(lambda: (entity["slots"][r.varint()]["name"], value(r, schema, external))))
    def inserted(entity): return {p["name"]: value(r, schema, external) for p in entity["slots"] if p["stored"]}
    for what, content in (("deleted", pairs), ("updated", pairs), ("inserted", inserted)):
        found[what] = {}
        for _ in range(r.varint()):
            entity = schema.entities[r.varint()]
            for _ in range(r.varint()):
                number, values = r.varint(), content(entity)
                found[what][f"{entity['name']}/{number}"] = values if what == "deleted" else sorted(values)
                if records is None: continue
                table = records.setdefault(entity["name"], {})
                if what == "deleted": del table[number]
                elif what == "updated": table[number].update(values)
                else: table[number] = values
    return found

def frames(path, data, seed):
    """Each frame's sequence number, kind, transaction and payload, and whether more of its transaction follows."""
    at, end, sequence = 64, 64, 1
    while any(data[at:]):
        r = Reader(path, data, at)
        r.check(not any(data[end:at]), "bytes between frames")
        r.check(r.bytes(4) == b"MFR\x1a", "expected a frame")
        kind, flags, zero, found = r.number(1), r.number(1), r.number(2), r.number(8)
        number, synced, length, checksum, own = r.number(8), r.number(8), r.number(8), r.number(4), r.number(4)
        r.check(own == crc(data[at:at + 44], seed), "checksum of a frame's header")
        r.check(found == sequence and synced < sequence and zero == 0 and flags < 2, "header of a frame")
        payload = r.bytes(length)
        r.check(crc(payload, seed) == checksum and payload[-1] == 0xFF, "checksum of a payload")
        if kind in (1, 2, 3): yield end, sequence, kind, number, Reader(path, data[:r.at - 1], at + 48), False
        elif kind == 4: yield from parts(path, end, sequence, number, Reader(path, data[:r.at], at + 48))
        else: r.check(flags & 1, f"frame of kind {kind}")
        end, sequence = r.at, sequence + (2 if kind == 4 else 1)
        at = (end + 7) // 8 * 8
        if at % 512 > 512 - 48: at = (at // 512 + 1) * 512

def parts(path, end, sequence, number, r):
    """The parts of a migration, as if they were frames."""
    for _ in range(r.varint()):
        kind, length = r.number(1), r.varint()
        r.check(kind in (1, 3), "kind of a part")
        start = r.at
        r.check(r.bytes(length)[-1] == 0xFF, "end of a part")
        yield end, sequence, kind, number, Reader(path, r.data[:r.at - 1], start), kind == 3
    yield end, sequence, 3, number, Reader(path, r.data[:-1], r.at), False

def read_log(path):
    with open(path, "rb") as file: data = file.read()
    store, log, base, seed = header(path, data, 1)
    checkpoint = read_checkpoint(path, store, log, data) if os.path.exists(path + ".checkpoint") else None
    schema, transactions, last = None, [], 0
    replayed, records = {} if base == 0 else None, None
    begun = None
    for end, sequence, kind, number, r, continued in frames(path, data, seed):
        if checkpoint and sequence == checkpoint["next"]:
            r.check(end == checkpoint["end"], "position of the checkpoint")
        if kind == 1:
            # Records that come to another schema are known from a checkpoint behind that alone.
            if schema: replayed = None
            schema = Schema(r)
            continue
        if begun is None:
            r.check(number == last + 1 if last and number > base + 1 else number > last, "number of a transaction")
        last, start = number, r.at
        found = transaction(r, schema, replayed, path + ".external")
        if begun:
            for what in ("inserted", "updated", "deleted"): found[what] = {**begun[what], **found[what]}
            passing = set(found["inserted"]) & set(found["deleted"])
            for what in ("inserted", "updated", "deleted"):
                found[what] = {k: v for k, v in found[what].items() if k not in passing and (
                    what != "updated" or k not in found["inserted"] and k not in found["deleted"])}
        begun = found if continued else None
        if continued: continue
        transactions.append(dict(number=number, author=found["author"], process=found["process"], updated=found["updated"],
                                 time=found["time"], erasure=found["bits"] & 2 != 0,
                                 inserted=sorted(found["inserted"]), deleted=found["deleted"]))
        if checkpoint and sequence >= checkpoint["next"]:
            r.at = start
            transaction(r, schema, checkpoint["records"], path + ".external")
    if checkpoint: records = checkpoint["records"]
    for name in schema.names:
        for table in (replayed, records): table is None or table.setdefault(name, {})
    if replayed is not None and records is not None and replayed != records:
        raise ValueError(f"{path}: log and checkpoint have different records")
    return dict(store=str(store), version=schema.version, entities=schema.described(), transactions=transactions,
                slots={e["name"]: [p["name"] for p in e["slots"]] for e in schema.entities},
                records=replayed if records is None else records,
                entries=checkpoint["entries"] if checkpoint else 0)

def plain(x):
    """Numbers as text, so that every program reads them alike."""
    if isinstance(x, dict): return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    return str(x) if isinstance(x, int) and not isinstance(x, bool) else x

if __name__ == "__main__":
    json.dump(plain(read_log(sys.argv[1])), sys.stdout, sort_keys=True)
