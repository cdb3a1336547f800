public import Foundation
import MortiseAppendLog
public import MortiseCore
public import MortiseEngine
import MortiseJSONFile
public import MortiseTestSupport

/// Something with external data.
public final class Picture: PersistentModel {
    public var persistentBackingData: any BackingData<Picture> = Picture.createBackingData()
    public static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Picture.name),
            .init(name: "rating", keypath: \Picture.rating),
            .init(name: "content", keypath: \Picture.content, metadata: Schema.Attribute(.externalStorage)),
            .init(name: "preview", keypath: \Picture.preview, metadata: Schema.Attribute(.externalStorage)),
        ]
    }
    public init(backingData: any BackingData<Picture>) { persistentBackingData = backingData }
    public init(_ name: String, rating: Int = 0, content: Data, preview: Data? = nil) {
        self.name = name
        self.rating = rating
        self.content = content
        self.preview = preview
    }

    public var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    public var rating: Int {
        get { getValue(forKey: \.rating) }
        set { setValue(forKey: \.rating, to: newValue) }
    }
    // As the macro writes getters and setters.
    public var content: Data {
        get { _value(at: 2) }
        set { _setValue(newValue, at: 2) }
    }
    public var preview: Data? {
        get { _value(at: 3) }
        set { _setValue(newValue, at: 3) }
    }
}

/// The stores that keep external data.
public enum PictureStore: String, CaseIterable, Sendable {
    case json, log

    public var path: String { self == .json ? "/pictures.json" : "/pictures.log" }
    public var folder: String { path + ".external" }

    /// The files of data in a store's folder, without what was moved aside.
    public func dataFiles(on disk: SimulatedFileSystem, path: String? = nil) -> [String] {
        let folder = (path ?? self.path) + ".external/"
        return disk.paths.filter { $0.hasPrefix(folder) && $0 != folder + "store" && !$0.hasPrefix(folder + "aside") }
    }

    public func configuration(
        _ fileSystem: any FileSystem, path: String? = nil, allowsSave: Bool = true
    ) -> any DataStoreConfiguration {
        guard self == .log else {
            return JSONFileConfiguration(path: path ?? self.path, allowsSave: allowsSave, in: fileSystem)
        }
        var configuration = AppendLogConfiguration(
            path: path ?? self.path, allowsSave: allowsSave, history: .keep(days: 0), in: fileSystem)
        configuration.allocationStep = 4_096
        return configuration
    }

    public func open(
        _ fileSystem: any FileSystem, path: String? = nil, allowsSave: Bool = true
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Picture.self]),
            configurations: [configuration(fileSystem, path: path, allowsSave: allowsSave)])
    }
}

/// A run of saves of pictures whose every state is known beforehand.
///
/// The save that leads to state n inserts picture n, gives picture n - 1 another content, rates that of n - 2, and deletes
/// picture n - 3.
public enum Pictures {
    /// Data that nothing else has.
    public static func data(_ number: Int, count: Int = 4_100) -> Data {
        Data((0..<(count + number)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7 &+ $0 >> 8) })
    }

    public static func change(_ context: ModelContext, to state: Int) throws {
        for picture in try context.fetch(FetchDescriptor<Picture>()) {
            switch picture.name {
            case "picture \(state - 1)": picture.content = data(1_000 + state)
            case "picture \(state - 2)": picture.rating = state
            case "picture \(state - 3)": context.delete(picture)
            default: break
            }
        }
        context.insert(
            Picture("picture \(state)", content: data(state), preview: state % 2 == 0 ? data(state, count: 10) : nil))
    }

    public static func lines(of state: Int) -> [String] {
        guard state > 0 else { return [] }
        return (max(1, state - 2)...state).map { number in
            let content = number == state ? data(number) : data(1_000 + number + 1)
            let preview = number % 2 == 0 ? data(number, count: 10) : nil
            return line("picture \(number)", number == state - 2 ? state : 0, content, preview)
        }.sorted()
    }

    private static func line(_ name: String, _ rating: Int, _ content: Data, _ preview: Data?) -> String {
        let sums = [content, preview ?? Data()].map { data in
            "\(data.count)/\(data.withUnsafeBytes { CRC32C.checksum(of: $0) })"
        }
        return "\(name), \(rating), \(sums)"
    }

    /// What a store holds, all data read.
    /// - Throws: what cannot be read.
    public static func lines(in container: ModelContainer) throws -> [String] {
        let context = ModelContext(container)
        return try context.fetch(FetchDescriptor<Picture>()).map { picture in
            line(
                picture.name, picture.rating, try context.resolve(picture, \.content),
                try context.resolve(picture, \.preview))
        }.sorted()
    }

    /// The state that a store holds; nil if it holds none of them whole.
    /// - Throws: what cannot be read.
    public static func state(of container: ModelContainer, upTo last: Int = 60) throws -> Int? {
        let lines = try lines(in: container)
        return (0...last).first { self.lines(of: $0) == lines }
    }
}

extension ModelContainer {
    /// Saves the next state of the pictures.
    public func advancePictures(to state: Int) throws {
        let context = ModelContext(self)
        try Pictures.change(context, to: state)
        try context.save()
    }
}
