/// Text without U+0000, for databases that refuse it: U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002. Equality
/// and order stay as they were, and so does what a text begins with.
package enum EscapedText {
    /// The text in its escaped form.
    package static func escaped(_ text: String) -> String {
        if !text.utf8.contains(where: { $0 < 2 }) { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0: scalars.append(contentsOf: "\u{1}\u{1}".unicodeScalars)
            case 1: scalars.append(contentsOf: "\u{1}\u{2}".unicodeScalars)
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// The text that an escaped form is of; nil for what is no such form.
    package static func text(_ escaped: String) -> String? {
        if !escaped.utf8.contains(1) { return escaped }
        var scalars = String.UnicodeScalarView()
        var isEscape = false
        for scalar in escaped.unicodeScalars {
            if isEscape {
                guard scalar.value == 1 || scalar.value == 2, let plain = Unicode.Scalar(scalar.value - 1) else {
                    return nil
                }
                scalars.append(plain)
                isEscape = false
            } else if scalar.value == 1 {
                isEscape = true
            } else {
                scalars.append(scalar)
            }
        }
        return isEscape ? nil : String(scalars)
    }
}
