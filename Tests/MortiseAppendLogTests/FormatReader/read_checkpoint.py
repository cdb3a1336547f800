"""Reads a checkpoint as CHECKPOINT.md describes it, and checks its indexes and links against its records."""
import decimal, struct, unicodedata, uuid
from urllib.parse import urljoin
from log_format import Reader, Schema, crc, file_of_data, header, number

WIDTHS = [0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16, 20, 8, 10, 16, 2, 16]

def read_checkpoint(path, store, log, frames):
    """`frames` are all bytes of the log."""
    name = path + ".checkpoint"
    with open(name, "rb") as file: data = file.read()
    found, _, base, seed = header(name, data, 2)
    footer = Reader(name, data, len(data) - 64)
    footer.check(found == store and base == 0 and footer.bytes(4) == b"MCP\x1a" and footer.number(4) == 0, "footer")
    def region(pointer):
        at, length, checksum = pointer
        r = Reader(name, data[:at + length], at)
        r.check(at % 8 == 0 and crc(r.data[at:], seed) == checksum, "checksum of a region")
        return r
    directory = footer.number(8), footer.number(8), footer.number(4)
    covered, sum_of_log = footer.number(4), footer.number(4)
    footer.check(not any(footer.bytes(24)), "zeros of the footer")
    footer.check(crc(data[-64:-4], seed) == int.from_bytes(data[-4:], "little"), "checksum of the footer")
    d = region(directory)
    schema = Schema(d)
    d.varint(), d.varint()
    positions = d.list(lambda: (uuid.UUID(bytes=d.bytes(16)), d.number(8), d.number(8)))
    position = next(p for p in positions if p[0] == log)
    if covered and position == positions[0]:
        end = position[1]
        footer.check(covered <= min(end, 65536), "length of the log's checksum")
        footer.check(crc(frames[end - covered:end]) == sum_of_log, "the checkpoint belongs to another copy of the log")
    d.check(d.number(4) in (1, 2, 3), "form of the keys")
    def tree():
        slots, bits, count, level = d.list(d.varint), d.number(1), d.varint(), d.varint()
        return slots, bits & 1, count, list(entries(region(d.pointer()), region, level, bits & 1)) if bits & 2 else []
    def table():
        entity, rows, records = schema.entities[d.varint()], d.varint(), d.varint()
        chunks = d.list(lambda: (d.pointer(), d.number(8))[0])
        dictionaries = {slot: strings(region(pointer), count)
                        for slot, count, pointer in d.list(lambda: (d.varint(), d.varint(), d.pointer()))}
        found = [row for pointer in chunks for row in chunk(region(pointer), entity, dictionaries, path + ".external")]
        d.check(len(found) == rows and len([r for r in found if r[1]]) == records, "rows of a table")
        return entity, found, d.list(tree), d.list(tree)
    tables = d.list(table)
    d.check(d.bytes(1) == b"\xff" and d.at == len(d.data), "end of the directory")
    records = {e["name"]: {n: values for n, values, _ in rows if values} for e, rows, _, _ in tables}
    expected = links(schema, tables, records)
    count = 0
    for entity, rows, sets, indexes in tables:
        for slots, wide, entries_, found_ in sets:
            d.check(wide and entries_ == len(found_), "links")
            d.check(found_ == sorted(expected.pop((entity["name"], slots[0]), [])), f"links {slots} of {entity['name']}")
        defined = indexes_of(entity)
        d.check([i[0] for i in indexes] == defined, f"indexes of {entity['name']}")
        for slots, wide, entries_, found_ in indexes:
            properties = [entity["slots"][s] for s in slots]
            keys = [(key(schema, properties, [raw[s] for s in slots]), row) for row, (_, v, raw) in enumerate(rows) if v]
            d.check(found_ == sorted(keys) and entries_ == len(keys), f"index {slots} of {entity['name']}")
            d.check(wide == (len(slots) > 1 or is_long(properties[0])), "a wide tree")
            count += len(keys)
    d.check(not any(expected.values()), "links that are missing")
    return dict(end=position[1], next=position[2], records=records, entries=count)

def strings(r, count): return [r.bytes(r.number(2)).decode("utf-8") for _ in range(count)]

def chunk(r, entity, dictionaries, external):
    """For each row its number, its values (None if it was deleted), and the values by slot for keys."""
    start, room, columns, rows = r.at, r.number(4), r.number(4), r.number(4)
    r.check(room % 64 == 0 and rows <= room <= 256 and columns == len(entity["slots"]) and r.number(4) == 0, "chunk")
    heap_length, zero = r.number(8), r.number(8)
    forms = [(r.number(4), r.number(1), r.bytes(3))[:2] for _ in range(columns)]
    numbers = [r.number(8) for _ in range(room)]
    bits = lambda at, row: r.data[at + row // 8] >> row % 8 & 1
    dead, heap = r.at, len(r.data) - heap_length
    def bytes_(at):
        length = int.from_bytes(r.data[at:at + 4], "little")
        size = 28 if length == 0xFFFFFFFF else length
        at = at + 4 if size <= 12 else heap + int.from_bytes(r.data[at + 8:at + 16], "little")
        return length == 0xFFFFFFFF, r.data[at:at + size]
    def read(slot, row):
        (offset, form), p = forms[slot], entity["slots"][slot]
        if form == 0 or bits(start + offset - room // 8, row): return None
        at = start + offset + WIDTHS[form] * row
        c = Reader(r.name, r.data, at)
        if form == 1: return bool(c.number(1))
        if form <= 8: return ("integer", int.from_bytes(c.bytes(WIDTHS[form]), "little", signed=form <= 5))
        if form == 9: return ("unsigned", c.number(8))
        if form <= 12: return ({10: "float", 11: "double", 12: "date"}[form], c.number(WIDTHS[form]))
        if form == 13: return ("uuid", str(uuid.UUID(bytes=c.bytes(16))))
        if form == 14:
            power, marks, _, mantissa = struct.unpack("b", c.bytes(1))[0], c.number(1), c.number(2), c.number(16)
            return number("NaN" if marks & 2 else f"{'-' * (marks & 1)}{mantissa}E{power}")
        if form in (15, 16):
            target = c.number(8)
            return ("reference", p["targets"][c.number(2) if form == 16 else 0], target)
        if form == 18: return ("string", dictionaries[slot][c.number(2)])
        outside, data = bytes_(at)
        c = Reader(r.name, data)
        if form == 17: return ("string", data.decode("utf-8"))
        if p["kind"] == "data": return file_of_data(c, external) if outside else ("data", data.hex())
        if p["kind"] == "url": return tuple(t for t in ("url", long_text(c), long_text(c)) if t)
        return coded(c)
    for row in range(rows):
        raw = None if bits(dead, row) else [read(slot, row) for slot in range(columns)]
        values = raw and {p["name"]: v for p, v in zip(entity["slots"], raw) if p["stored"]}
        yield numbers[row], values, raw

def long_text(r): return r.bytes(r.number(4)).decode("utf-8")

def coded(r):
    tag = r.number(1)
    if tag < 3: return [None, False, True][tag]
    if tag < 6: return (["integer", "unsigned", "double"][tag - 3],
                        int.from_bytes(r.bytes(8), "little", signed=tag == 3))
    if tag == 6: return ("string", long_text(r))
    if tag == 7: return ("array",) + tuple(coded(r) for _ in range(r.number(4)))
    return ("object",) + tuple((long_text(r), coded(r)) for _ in range(r.number(4)))

def entries(r, region, level, wide):
    """All entries beneath a node as (key, number), in order; keys without their last zeros."""
    count, found, bits, zero, heap = r.number(4), r.number(1), r.number(1), r.number(2), r.number(8)
    r.check(0 < count <= 128 and found == level and bits & 1 == wide and zero == 0, "node")
    columns = 3 if wide else 2
    widths, least = [8] * columns, [0] * columns
    if bits & 4: widths, least = list(r.bytes(8))[:columns], [r.number(8) for _ in range(columns)]
    parts = [[least[c] + r.number(widths[c]) for _ in range(count)] for c in range(columns)]
    rests = [r.number(4) for _ in range(count)] if bits & 2 else [0] * count
    children = [(r.pointer(), r.number(8)) for _ in range(count)] if level else []
    found = []
    for i in range(count):
        words = [parts[0][i]] + ([parts[2][i]] if wide else [])
        found.append((b"".join(w.to_bytes(8, "big") for w in words) + r.bytes(rests[i]), parts[1][i]))
    r.check(r.at == len(r.data) and sum(rests) == heap, "length of a node")
    for i, (pointer, beneath) in enumerate(children):
        below = list(entries(region(pointer), region, level - 1, wide))
        r.check(len(below) == beneath and (i == 0 or (found[i][0].rstrip(b"\0"), found[i][1]) <= below[0]), "branch")
        yield from below
    if not level: yield from ((k.rstrip(b"\0"), n) for k, n in found)

def indexes_of(entity):
    slots = {p["name"]: s for s, p in enumerate(entity["slots"])}
    unique = [[slots[n] for n in names] for e in reversed(entity["line"]) for names in e["unique"]]
    for e in entity["line"]:
        for index in e["indices"]:
            wanted = [slots[n] for n in index["properties"]]
            if wanted not in unique and not any(entity["slots"][s].get("many") for s in wanted): unique.append(wanted)
    return unique

def is_long(p):
    kind = p.get("kind")
    if p["optional"]: return kind != "bool"
    return kind is None or not kind.startswith(("bool", "int", "uint", "float", "double", "date"))

def key(schema, properties, values):
    return b"".join(part(schema, p, v) for p, v in zip(properties, values)).rstrip(b"\0")

def part(schema, p, v):
    if p["optional"]: return b"\0" if v is None else b"\1" + part(schema, dict(p, optional=False), v)
    if v is None: return bytes(8)
    if isinstance(v, bool): return bytes([v])
    kind, content = v[0], v[1]
    escaped = lambda data: b"".join({0: b"\1\1", 1: b"\1\2"}.get(b, bytes([b])) for b in data) + b"\0"
    if kind == "integer": return (content + (1 << 63)).to_bytes(8, "big")
    if kind == "unsigned": return content.to_bytes(8, "big")
    if kind in ("float", "double", "date"):
        x = struct.unpack("<f", content.to_bytes(4, "little"))[0] if kind == "float" else struct.unpack("<d", content.to_bytes(8, "little"))[0]
        word = struct.unpack(">Q", struct.pack(">d", 0.0 if x == 0 else x))[0]
        return (0 if x != x else word | 1 << 63 if word >> 63 == 0 else word ^ (1 << 64) - 1).to_bytes(8, "big")
    if kind == "decimal":
        d = decimal.Decimal(content)
        if d.is_nan() or not d: return b"\0" if d.is_nan() else b"\2"
        digits = "".join(map(str, d.as_tuple().digits)).rstrip("0")
        pairs = bytes(int(digits[i:i + 2].ljust(2, "0")) + 1 for i in range(0, len(digits), 2))
        magnitude = (d.adjusted() + 512).to_bytes(2, "big") + pairs
        return b"\1" + bytes(b ^ 255 for b in magnitude) + b"\xff" if d < 0 else b"\3" + magnitude + b"\0"
    if kind == "uuid": return uuid.UUID(content).bytes
    if kind == "url" and len(v) == 3: content = urljoin(v[2], content)
    if kind in ("string", "url"): return escaped(unicodedata.normalize("NFC", content).encode("utf-8"))
    if kind == "data": return escaped(bytes.fromhex(content))
    if kind == "reference": return v[2].to_bytes(8, "big") + p["targets"].index(content).to_bytes(2, "big")
    raise ValueError(f"no key for {v}")

def links(schema, tables, records):
    """Puts stored to-many relationships into the records, and gives all sets of links that there should be."""
    stored = {(e["name"], tree[0][0]): tree[3] for e, _, sets, _ in tables for tree in sets}
    expected, hidden = {}, max(len(e["slots"]) for e in schema.entities)
    pair = lambda a, b: a.to_bytes(8, "big") + b.to_bytes(8, "big")
    def add(name, set_, a, b, n): expected.setdefault((name, set_), []).append((pair(a, b).rstrip(b"\0"), n))
    for entity in schema.entities:
        for slot, p in enumerate(entity["slots"]):
            if "to" not in p or not p["stored"]: continue
            back = schema.inverse(p) if p["inverse"] else None
            back = back and next(i for i, q in enumerate(schema.find(p["to"])["slots"]) if q["name"] == back["name"])
            other = None if back is None else schema.find(p["to"])["slots"][back]
            shown = other is not None and other["many"] and not other["stored"]
            set_, n = (back, other["targets"].index(entity["name"])) if shown else (hidden, schema.names.index(entity["name"]))
            hidden += not shown
            rows = records.get(entity["name"], {})
            if p["many"]:
                members = {}
                for k, position in stored.get((entity["name"], slot), []):
                    k = k.ljust(16, b"\0")
                    owner, member = int.from_bytes(k[:8], "big"), int.from_bytes(k[8:], "big")
                    members.setdefault(owner, []).append((p["targets"][position], member))
                for number, values in rows.items():
                    values[p["name"]] = ("references",) + tuple(members.get(number, []))
            for number, values in rows.items():
                v = values[p["name"]]
                for target, member in (v[1:] if p["many"] else [v[1:]] if v else []):
                    add(target, set_, member, number, n)
                    if p["many"]: add(entity["name"], slot, number, member, p["targets"].index(target))
    return expected
