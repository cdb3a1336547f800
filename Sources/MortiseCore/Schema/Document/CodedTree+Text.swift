extension CodedTree {
    /// Reads a tree from JSON: numbers with a fraction or an exponent are `double`, others `integer`, or `unsigned` beyond that.
    /// - Returns: nil for a text that is no JSON, or beyond the limits of default values in a schema's file.
    public init?(json: String) {
        guard var cursor = try? SchemaTextCursor(Array(json.utf8)) else { return nil }
        var parts = SchemaDocumentLimit.parts
        guard let value = try? cursor.value(.coded, parts: &parts), (try? cursor.finish()) != nil else { return nil }
        self.value = value
    }

    /// The tree as JSON on one line, from which `init(json:)` makes the same tree; nil for one that has no such text.
    public var json: String? { SchemaValueText.text(of: value, kind: .coded) }
}
