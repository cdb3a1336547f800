import SwiftSyntaxMacros

/// A macro whose expansions are passed on as they were written. Formatting them takes the compiler's plugin, which is not
/// optimized, nearly half of its time.
protocol UnformattedMacro: Macro {}

extension UnformattedMacro {
    static var formatMode: FormatMode { .disabled }
}
