#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Counts what is allocated while a body runs, with the help of the address sanitizer.
enum MemoryMeter {
    private typealias Allocation = @convention(c) (UnsafeRawPointer?, Int) -> Void
    private typealias Release = @convention(c) (UnsafeRawPointer?) -> Void
    private typealias Install = @convention(c) (Allocation, Release) -> CInt
    private typealias SizeOf = @convention(c) (UnsafeRawPointer?) -> Int

    /// Live and peak bytes. Plain memory: nothing may be allocated while an allocation is being counted.
    nonisolated(unsafe) private static let bytes: UnsafeMutablePointer<Int> = {
        let bytes = UnsafeMutablePointer<Int>.allocate(capacity: 2)
        bytes.initialize(repeating: 0, count: 2)
        return bytes
    }()
    nonisolated(unsafe) private static var size: SizeOf?

    private static let isInstalled: Bool = {
        let everywhere = UnsafeMutableRawPointer(bitPattern: 0)
        guard let install = dlsym(everywhere, "__sanitizer_install_malloc_and_free_hooks"),
            let sizeOf = dlsym(everywhere, "__sanitizer_get_allocated_size")
        else { return false }
        size = unsafeBitCast(sizeOf, to: SizeOf.self)
        _ = bytes
        let allocated: Allocation = { _, count in
            MemoryMeter.bytes[0] += count
            if MemoryMeter.bytes[0] > MemoryMeter.bytes[1] { MemoryMeter.bytes[1] = MemoryMeter.bytes[0] }
        }
        let released: Release = { place in
            if let place, let size = MemoryMeter.size { MemoryMeter.bytes[0] -= size(place) }
        }
        return unsafeBitCast(install, to: Install.self)(allocated, released) != 0
    }()

    /// Ends the process when the body has more than `limit` bytes allocated at any time, or where nobody counts.
    static func measure(limit: Int, _ body: () -> Void) {
        precondition(isInstalled, "Build the fuzzer with the address sanitizer; without it nobody counts memory.")
        let before = bytes[0]
        bytes[1] = before
        body()
        let peak = bytes[1] - before
        precondition(peak <= limit, "Reading took \(peak) bytes; it may take \(limit).")
    }
}
