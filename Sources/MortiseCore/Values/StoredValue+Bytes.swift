import Foundation

extension StoredValue {
    /// About how much memory the value takes.
    package var approximateBytes: Int {
        let own = MemoryLayout<StoredValue>.stride
        return switch self {
        case .string(let text): own + text.utf8.count
        case .data(let data): own + data.count
        case .url(let url): own + 200 + url.absoluteString.utf8.count
        case .identifiers(let identifiers): own + identifiers.count * MemoryLayout<PersistentIdentifier>.stride
        case .array(let elements): elements.reduce(own) { $0 + $1.approximateBytes }
        case .object(let members): members.reduce(own) { $0 + $1.key.utf8.count + $1.value.approximateBytes }
        default: own
        }
    }
}
