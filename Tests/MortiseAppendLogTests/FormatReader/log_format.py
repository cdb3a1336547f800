"""What all files of an append log are made of: FORMAT.md up to the payloads, and SCHEMA.md."""
import decimal, os, uuid

TABLE = []
for byte in range(256):
    for _ in range(8): byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)

def crc(data, seed=0):
    value = seed ^ 0xFFFFFFFF
    for byte in data: value = value >> 8 ^ TABLE[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF

class Reader:
    def __init__(self, name, data, at=0): self.name, self.data, self.at = name, data, at
    def check(self, holds, what):
        if not holds: raise ValueError(f"{self.name}, offset {self.at}: {what}")
    def bytes(self, count):
        self.check(0 <= count <= len(self.data) - self.at, "ends too early")
        self.at += count
        return self.data[self.at - count:self.at]
    def number(self, size): return int.from_bytes(self.bytes(size), "little")
    def varint(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            self.check(shift < 63 or byte < 2, "number of more than 64 bits")
            value |= (byte & 127) << shift
            if byte < 128:
                self.check(byte or not shift, "superfluous byte")
                return value
            shift += 7
    def zigzag(self): n = self.varint(); return n >> 1 ^ -(n & 1)
    def text(self): return self.bytes(self.varint()).decode("utf-8")
    def list(self, item): return [item() for _ in range(self.varint())]
    def optional(self, item):
        flag = self.number(1)
        self.check(flag < 2, "expected 0 or 1")
        return item() if flag else None
    def pointer(self): return self.number(8), self.number(4), self.number(4)

def header(name, data, kind):
    r = Reader(name, data)
    r.check(r.bytes(8) == b"\x89MLOG\r\n\x1a" and r.number(2) == 1 and r.number(2) == kind and r.number(4) == 0, "header")
    store, file, base = uuid.UUID(bytes=r.bytes(16)), uuid.UUID(bytes=r.bytes(16)), r.number(8)
    r.check(r.number(4) == 0 and r.number(4) == crc(data[:60]), "checksum of the header")
    return store, file, base, crc(data[:60])

class Schema:
    def __init__(self, r):
        self.version = ".".join(str(r.varint()) for _ in range(3))
        self.entities = r.list(lambda: self.entity(r))
        self.names = [e["name"] for e in self.entities]
        r.check(self.names == sorted(self.names, key=lambda n: n.encode()), "order of the entities")
        for e in self.entities:
            e["line"] = self.line(e)
            e["slots"] = [dict(p, owner=a["name"]) for a in reversed(e["line"]) for p in a["properties"]]
        for e in self.entities:
            for p in e["slots"]:
                p["stored"] = self.is_stored(p)
                if "to" in p: p["targets"] = self.targets(p["to"])
    def entity(self, r):
        e = dict(name=r.text(), bits=r.number(1))
        r.check(e["bits"] < 8, "bits of an entity")
        e["parent"] = r.text() if e["bits"] & 1 else None
        e["original"] = r.text() if e["bits"] & 2 else e["name"]
        e["former"] = r.list(r.text) if e["bits"] & 4 else []
        return dict(e, properties=r.list(lambda: self.property(r)),
                    unique=r.list(lambda: r.list(r.text)), indices=r.list(lambda: self.index(r)))
    def index(self, r):
        kind = r.number(1)
        r.check(kind < 2, "kind of an index")
        return dict(kind=("binary", "rtree")[kind], properties=r.list(r.text))
    def property(self, r):
        p = dict(name=r.text(), original=r.text(), bits=r.number(1))
        p["optional"] = bool(p["bits"] & 1)
        r.check(p["bits"] < 4, "bits of a property")
        if p["bits"] & 2:
            p.update(to=r.text(), many=r.number(1), inverse=r.optional(r.text), rule=r.text())
            r.check(p["many"] < 4, "bits of a relationship")
            p["single"], p["many"] = bool(p["many"] & 2), bool(p["many"] & 1)
            r.check(p["rule"] in ("noAction", "nullify", "cascade", "deny"), "delete rule")
            p.update(minimum=r.optional(r.zigzag), maximum=r.optional(r.zigzag))
        else:
            p.update(kind=r.text(), options=r.varint(), default=r.optional(lambda: value(r, self)), hash=r.optional(r.text))
        return p
    def described(self):
        """All that it says, by the words of SCHEMA.md."""
        def property(p):
            words = ("to", "many", "single", "inverse", "rule", "minimum", "maximum") if "to" in p else ("kind", "options", "default", "hash")
            return {word: p[word] for word in ("name", "original", "optional") + words}
        return [dict({word: e[word] for word in ("name", "parent", "unique", "indices")},
                     properties=[property(p) for p in e["properties"]]) for e in self.entities]
    def find(self, name): return self.entities[self.names.index(name)]
    def line(self, e): return [e] + (self.line(self.find(e["parent"])) if e["parent"] else [])
    def inverse(self, p):
        return next((q for a in self.find(p["to"])["line"] for q in a["properties"] if q["name"] == p["inverse"]), None)
    def is_stored(self, p):
        if "to" not in p: return not p["options"] & 8
        back = self.inverse(p) if p["many"] else None
        if not back: return True
        return bool(back["many"]) and (p["owner"], p["name"]) <= (p["to"], p["inverse"])
    def targets(self, name):
        return [name] + [e["name"] for e in self.entities if e["name"] != name and name in [a["name"] for a in e["line"]]]

def value(r, schema, external=None):
    tag = r.number(1)
    if tag in (0, 1, 2): return [None, False, True][tag]
    if tag == 3: return ("integer", r.zigzag())
    if tag == 4: return ("unsigned", r.varint())
    if tag in (5, 6, 10): return ({5: "float", 6: "double", 10: "date"}[tag], r.number(4 if tag == 5 else 8))
    if tag == 7: return number(r.text())
    if tag in (8, 12): return ("string" if tag == 8 else "url", r.text())
    if tag == 9: return ("data", r.bytes(r.varint()).hex())
    if tag == 11: return ("uuid", str(uuid.UUID(bytes=r.bytes(16))))
    if tag == 13: return ("url", r.text(), r.text())
    reference = lambda: (schema.names[r.varint()], r.varint())
    if tag == 14: return ("reference",) + reference()
    if tag == 15: return ("references",) + tuple(r.list(reference))
    if tag == 16: return ("array",) + tuple(r.list(lambda: value(r, schema)))
    if tag == 17: return ("object",) + tuple(r.list(lambda: (r.text(), value(r, schema))))
    r.check(tag == 18, f"value of tag {tag}")
    return file_of_data(r, external)

def number(text):
    d = decimal.Decimal(text)
    return ("decimal", "NaN" if d.is_nan() else f"{d.normalize(decimal.Context(prec=40)):f}")

def file_of_data(r, external):
    name, length, checksum = r.bytes(16).hex(), r.number(8), r.number(4)
    with open(os.path.join(external, name), "rb") as file: data = file.read()
    r.check(len(data) == length and crc(data) == checksum, f"file {name}")
    return ("data", data.hex())
