/// Names the checks that stored values pass before they become the values of one model type's properties: equal for equal
/// checks, in one run of the program.
public struct PropertyChecks: Hashable, Sendable {
    /// A number of 48 bits other than zero, different for different checks.
    public let rawValue: UInt64

    /// - Parameter layout: stays as long as the process. Addresses have 48 bits at most.
    init(of layout: AnyObject) { rawValue = UInt64(UInt(bitPattern: ObjectIdentifier(layout))) }
}
