import SwiftSyntaxMacros

#if canImport(SwiftSyntax602)
import SwiftIfConfig
#endif

extension MacroExpansionContext {
    /// Whether the class is compiled in the Swift 6 mode. False where the compiler does not tell: it does so from 6.2 on, to
    /// plugins made with swift-syntax 602 and later.
    var isSwift6: Bool {
        #if canImport(SwiftSyntax602)
        return buildConfiguration.map { $0.languageVersion >= VersionTuple(6) } ?? false
        #else
        return false
        #endif
    }
}
