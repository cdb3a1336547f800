#if Inspector
import Foundation
import MortiseCore
import Testing

/// What pages show, of ordinary stores and of others.
@Suite struct PageTests {
    /// What would run, or end an attribute, if it were taken for markup. A combining mark makes one character of a quotation mark
    /// and itself.
    private static let attacks = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
        "\"\u{301} onfocus=alert(1) x=\"",
        "<\u{301}script>", "</textarea><script>alert(1)</script>", "</title><script>", "javascript:alert(1)", "{{x}}",
        "&lt;b&gt;",
        "--><script>", "\u{0}<script>", "\u{202E}<b>",
    ]

    @Test(.timeLimit(.minutes(15))) func nothingInAStoreBecomesMarkup() throws {
        let store = try OddStore()
        let name = "x\"><img src=y onerror=alert(1)>"
        let property = "p'\"\u{301} onfocus=alert(2) <script>"
        let schema = StoredSchema(entities: [
            StoredEntity(
                name: name,
                properties: [
                    StoredProperty(
                        name: "name", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                    StoredProperty(
                        name: property, isOptional: true, content: .attribute(StoredAttribute(kind: .string))),
                    StoredProperty(name: "tags", isOptional: true, content: .attribute(StoredAttribute(kind: .coded))),
                ])
        ])
        try store.insert(
            Self.attacks.map { text in
                (name, ["name": .string(text), property: .string(text), "tags": .array([.string(text)])])
            }, schema, author: "<script>alert(3)</script>")
        let run = try InspectorRun([store.url, "--edit"])
        let entity = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let query = "<script>alert(4)</script>\"".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        var pages = [
            "/", "/s/0", "/s/0/e/\(entity)", "/s/0/e/\(entity)?facet=name", "/s/0/e/\(entity)?where=\(query)",
            "/s/0/history",
            "/s/0/e/\(entity)?sort=\(query)", "/s/0/history/1", "/s/0/explain?q=\(query)", "/s/0/\(query)",
            "/s/0/e/\(query)",
            "/s/0/history?author=\(query)", "/s/0/history/1/undo", "/s/0/difference?from=0&to=1",
            "/s/0/difference?from=\(query)&to=\(query)", "/s/0/difference?from=0&to=1&entity=\(entity)&record=\(query)",
            "/s/0/sql?q=\(query)",
        ]
        for number in 1...Self.attacks.count {
            pages += [
                "/s/0/e/\(entity)/\(number)", "/s/0/e/\(entity)/\(number)?edit=1", "/s/0/storage/\(entity)/\(number)",
            ]
        }
        for path in pages {
            let page = try run.get(path)
            #expect(page.headers["content-type"] == "text/html; charset=utf-8", "\(path)")
            #expect(Self.strangers(in: page.bytes) == [], "\(path)")
        }
        // The check sees what it is for.
        #expect(Self.strangers(in: Data("<p title=\"a\"\u{301} onfocus=b>".utf8)) != [])
        #expect(Self.strangers(in: Data("<img src=x>".utf8)) != [])
    }

    /// Tags that no page of the inspector has, and attributes that none of its tags has, as a browser splits them: by code units.
    private static func strangers(in page: Data) -> [String] {
        let tags: Set = [
            "!doctype", "html", "head", "meta", "title", "link", "script", "body", "a", "header", "svg", "path", "span",
            "div",
            "aside", "main", "nav", "details", "summary", "ul", "li", "ol", "h1", "h2", "p", "small", "code", "pre",
            "b", "i",
            "table", "thead", "tbody", "tr", "th", "td", "form", "input", "textarea", "select", "option", "label",
            "button", "dl",
            "dt", "dd", "section", "article", "figure", "rect", "g", "text", "meter", "del", "ins", "time",
        ]
        let attributes: Set = [
            "lang", "charset", "name", "content", "rel", "href", "src", "defer", "class", "id", "tabindex",
            "aria-label", "title",
            "aria-current", "aria-hidden", "aria-sort", "aria-invalid", "viewbox", "width", "height", "d", "scope",
            "role", "open",
            "method", "action", "autocomplete", "type", "value", "spellcheck", "autocapitalize", "placeholder",
            "autofocus", "for",
            "rows", "checked", "selected", "download", "min", "max", "transform", "x", "y", "rx", "data-version",
            "data-href", "data-follows",
            "hidden", "inputmode", "datetime", "reversed", "colspan", "html", "aria-describedby",
        ]
        let text = Array(page)
        var found: [String] = []
        var place = 0
        func word() -> String {
            var word: [UInt8] = []
            while place < text.count, ![0x20, 0x0A, 0x3E, 0x3D, 0x2F, 0x22, 0x27].contains(text[place]) {
                word.append(text[place])
                place += 1
            }
            return String(decoding: word, as: UTF8.self).lowercased()
        }
        while place < text.count {
            guard text[place] == 0x3C else {
                place += 1
                continue
            }
            place += 1
            if place < text.count, text[place] == 0x2F { place += 1 }
            let tag = word()
            if !tags.contains(tag) { found.append("<\(tag)") }
            while place < text.count, text[place] != 0x3E {
                if [0x20, 0x0A, 0x2F].contains(text[place]) {
                    place += 1
                    continue
                }
                let name = word()
                if !attributes.contains(name) { found.append("\(tag) \(name)") }
                if place < text.count, text[place] == 0x3D {
                    place += 1
                    if place < text.count, text[place] == 0x22 {
                        place += 1
                        while place < text.count, text[place] != 0x22 { place += 1 }
                        place += 1
                    } else {
                        found.append("\(tag) \(name) without quotation marks")
                        _ = word()
                    }
                } else if name.isEmpty {
                    place += 1
                }
            }
        }
        return found
    }

    @Test(.timeLimit(.minutes(15))) func eachKindOfValueIsShownAsWhatItIs() throws {
        let store = try OddStore()
        try store.insert([
            OddStore.thing("nothing"), OddStore.thing("empty", ["note": .string("")]),
            OddStore.thing("nil as text", ["note": .string("nil")]), OddStore.thing("not a number", size: .nan),
            OddStore.thing("minus zero", size: -0.0), OddStore.thing("zero byte", ["note": .string("a\u{0}b")]),
            OddStore.thing("turned", ["note": .string("a\u{202E}b")]),
            OddStore.thing("bytes", ["picture": .data(Data([0, 255, 60, 62]))]),
            OddStore.thing("coded", ["tags": .array([.string("x"), .integer(1)])]),
        ])
        let run = try InspectorRun([store.url])
        func record(_ number: Int) throws -> String { try run.get("/s/0/e/Thing/\(number)").body }
        #expect(try record(1).contains("<dt>note<small>") && record(1).contains("<span class=\"v nil\">nil</span>"))
        #expect(try record(2).contains("class=\"v empty\""))
        #expect(try record(3).contains("<span class=\"v text\">nil</span>"))
        #expect(try record(4).contains("class=\"v odd\"") && record(4).contains("bits 0x7ff8000000000000"))
        #expect(try record(5).contains("-0.0") && record(5).contains("bits 0x8000000000000000"))
        #expect(try record(6).contains("a<i class=\"scalar\" title=\"U+0000\">U+0000</i>b"))
        #expect(try record(7).contains("title=\"U+202E\""))
        #expect(try record(8).contains("<b>4 bytes</b> <code>00ff3c3e</code>"))
        #expect(try record(9).contains("<code class=\"v coded\" title=\"a coded value\">[&quot;x&quot;,1]</code>"))
    }

    @Test(.timeLimit(.minutes(15))) func aLongValueIsCutAndCanBeHadWhole() throws {
        let store = try OddStore()
        let text = String(repeating: "0123456789", count: 1_000_000)
        let bytes = Data(repeating: 7, count: 10_000_000)
        try store.insert([OddStore.thing("long", ["note": .string(text), "picture": .data(bytes)])])
        let run = try InspectorRun([store.url, "--edit"])
        for path in ["/s/0/e/Thing", "/s/0/e/Thing/1", "/s/0/e/Thing/1?edit=1", "/s/0/history/1"] {
            #expect(try run.get(path).bytes.count < 100_000, "\(path)")
        }
        #expect(try run.get("/s/0/e/Thing/1").body.contains("href=\"/s/0/e/Thing/1/note\">all 10.0 MB</a>"))
        let whole = try run.get("/s/0/e/Thing/1/note")
        #expect(whole.body == text && whole.headers["content-disposition"]?.hasPrefix("attachment") == true)
        let picture = try run.get("/s/0/e/Thing/1/picture")
        #expect(picture.bytes == bytes && picture.headers["content-type"] == "application/octet-stream")
        #expect(picture.headers["x-content-type-options"] == "nosniff")
    }

    @Test(.timeLimit(.minutes(15))) func aFileForSpreadsheetsHasNoFormulas() throws {
        let store = try OddStore()
        let formulas = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1"]
        try store.insert(formulas.map { OddStore.thing($0, size: -5) } + [OddStore.thing("plain, \"quoted\"")])
        let run = try InspectorRun([store.url])
        let csv = try run.get("/s/0/export/Thing/csv?columns=name,size")
        #expect(csv.headers["content-type"] == "text/csv; charset=utf-8")
        let lines = csv.body.components(separatedBy: "\r\n")
        #expect(lines.first == "$id,name,size" && lines.count == formulas.count + 3)
        for (formula, line) in zip(formulas, lines.dropFirst()) {
            #expect(line.contains("'" + formula) && line.hasSuffix(",-5.0"), "\(line)")
        }
        #expect(lines[formulas.count + 1] == "9,\"plain, \"\"quoted\"\"\",1.0")
        let json = try JSONSerialization.jsonObject(with: run.get("/s/0/export/Thing/json").bytes) as? [[String: Any]]
        #expect(json?.map { $0["name"] as? String } == formulas + ["plain, \"quoted\""])
        let page = try run.get("/s/0/export/Thing/jsonl?rows=2&offset=3").body.split(separator: "\n")
        #expect(page.count == 2 && page[0].hasPrefix("{\"$id\":4,"))
        #expect(try run.get("/s/0/export/Thing/csv?where=nonsense").status == 400)
    }

    @Test(.timeLimit(.minutes(15))) func aBrokenStoreIsShownAsOneAndDisturbsNoOther() throws {
        let (store, broken) = (try OddStore(), try OddStore())
        for one in [store, broken] { try one.insert((0..<500).map { OddStore.thing("Thing \($0)") }) }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: broken.path))
        for place in bytes.count / 2..<bytes.count / 2 + 64 { bytes[place] ^= 0xFF }
        try bytes.write(to: URL(fileURLWithPath: broken.path))
        let run = try InspectorRun([store.url, broken.url])
        let home = try run.get("/")
        #expect(
            home.status == 200 && home.body.contains("class=\"card broken\"")
                && home.body.contains("opened without a fault"))
        let page = try run.get("/s/1/e/Thing")
        #expect(page.status == 500 && page.body.contains("mortise salvage"))
        #expect(try run.get("/s/1/verify").body.contains("class=\"problems\""))
        #expect(try run.get("/s/0/e/Thing").status == 200)
        #expect(try Data(contentsOf: URL(fileURLWithPath: broken.path)) == bytes)
    }

    @Test(.timeLimit(.minutes(15))) func whatAnotherProcessSavesIsShown() throws {
        let store = try OddStore()
        let first = try store.insert([OddStore.thing("Anvil")])
        let run = try InspectorRun([store.url])
        #expect(try run.get("/s/0/e/Thing").body.contains("1–1 of 1"))
        let version = try run.get("/s/0/version").body
        try store.insert([OddStore.thing("Bellows")], author: "other")
        let end = ContinuousClock.now + .seconds(60)
        // The reader looks at its file now and then; nothing else can be asked.
        while try run.get("/s/0/version").body == version, ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: 0.05)
        }
        #expect(try run.get("/s/0/e/Thing").body.contains("Bellows"))
        #expect(try run.get("/s/0/history?author=other").body.contains("/s/0/history/2\""))
        #expect(!(try run.get("/s/0/history?author=other").body.contains("/s/0/history/1\"")))
        #expect(first.count == 1)
    }

    @Test(.timeLimit(.minutes(15))) func aHistoryBeginsAnywhere() throws {
        let store = try OddStore()
        for name in ["Anvil", "Bellows", "Chisel"] { try store.insert([OddStore.thing(name)]) }
        let run = try InspectorRun([store.url])
        for query in ["", "&author=tester", "&entity=Thing", "&entity=Thing&record=1", "&author=nobody"] {
            for (before, numbers) in [
                ("0", []), ("1", []), ("2", [1]), ("3", [1, 2]), ("4", [1, 2, 3]), ("9223372036854775808", [1, 2, 3]),
                ("18446744073709551614", [1, 2, 3]), ("18446744073709551615", [1, 2, 3]),
                ("18446744073709551616", [1, 2, 3]), ("-1", [1, 2, 3]),
            ] {
                let page = try run.get("/s/0/history?before=\(before)\(query)")
                let shown = page.body.matches(of: /class="no" href="\/s\/0\/history\/(\d+)"/).compactMap { Int($0.1) }
                let wanted =
                    query.contains("nobody") ? [] : query.contains("record") ? numbers.filter { $0 == 1 } : numbers
                #expect(page.status == 200 && shown == wanted.reversed(), "before=\(before)\(query)")
            }
        }
        #expect(try run.get("/s/0/history/18446744073709551615").status == 404)
    }

    @Test(.timeLimit(.minutes(15))) func pagesFollowEachOtherByTheRecordsWhereverTheyAre() throws {
        let store = try OddStore()
        try store.insert((1...120).map { OddStore.thing("Thing \($0)", size: Double($0 % 10)) })
        let run = try InspectorRun([store.url])
        func keys(_ page: String) -> [Int] {
            page.matches(of: /<th scope="row"><a href="\/s\/0\/e\/Thing\/(\d+)">/).compactMap { Int($0.1) }
        }
        var path = "/s/0/e/Thing?sort=-size"
        var seen: [Int] = []
        while true {
            let page = try run.get(path).body
            seen += keys(page)
            guard let next = page.firstMatch(of: /<a rel="next" class="button" href="([^"]+)">/) else { break }
            path = String(next.1).replacingOccurrences(of: "&amp;", with: "&")
        }
        #expect(Set(seen) == Set(1...120) && seen.count == 120)
        // Who comes with a place that is not right any more gets what follows the record.
        #expect(try keys(run.get("/s/0/e/Thing?after=60&offset=10").body).first == 61)
        #expect(try run.get("/s/0/e/Thing?after=999&offset=10").body.contains("is gone"))
        let filtered = try run.get("/s/0/e/Thing?where=size%20%3E%208").body
        #expect(keys(filtered).allSatisfy { $0 % 10 == 9 } && keys(filtered).count == 12)
    }

    /// A page takes as long in a large store as in a small one, as far as its rows are concerned. The ratio is printed.
    @Test(.timeLimit(.minutes(30))) func aPageOfManyRecordsCostsWhatAPageOfFewCosts() throws {
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        let (few, many) = (10_000, isFull ? 1_000_000 : 100_000)
        func seconds(_ count: Int) throws -> Double {
            let store = try OddStore()
            for start in stride(from: 0, to: count, by: 50_000) {
                try store.insert((start..<min(start + 50_000, count)).map { OddStore.thing("Thing \($0)") })
            }
            let run = try InspectorRun([store.url])
            _ = try run.get("/s/0/e/Thing")
            let times = try (0..<9).map { _ in
                let clock = ContinuousClock.now
                let status = try run.get("/s/0/e/Thing").status
                #expect(status == 200)
                let passed = (ContinuousClock.now - clock).components
                return Double(passed.seconds) + Double(passed.attoseconds) * 1e-18
            }.sorted()
            return times[times.count / 2]
        }
        let (short, long) = (try seconds(few), try seconds(many))
        print(
            "inspector: first page of \(few) records \(short * 1_000) ms, of \(many) \(long * 1_000) ms, ratio \(long / short)"
        )
        // A page that read all records would take as many times as long as there are more of them.
        #expect(long / short < Double(many / few) / 3)
    }
}
#endif
