/// A store that posts what it commits to a feed of its own, including what other processes commit. For other stores the
/// framework posts what this process saves through it.
public protocol ChangeAnnouncing: DataStore {
    /// The store's feed; always the same one.
    var changeFeed: ChangeFeed { get }
    /// Whether the feed also has what other processes commit while the store is open. The default is false: either nobody
    /// else can write, or the store does not look.
    var announcesOtherProcesses: Bool { get }
}

extension ChangeAnnouncing {
    /// False.
    public var announcesOtherProcesses: Bool { false }
}
