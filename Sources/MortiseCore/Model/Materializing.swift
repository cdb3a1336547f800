#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The class of the model that the current thread is making for a fetched row. A model's initializers cannot get that as an
/// argument, since property defaults run before any argument is evaluated. It is no mere flag: a default may make other
/// models, which have no row and keep what they are given.
enum Materializing {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The class whose properties come next, those of a subclass before those of its superclass; nil from when they have
    /// begun, so that a default value may make a model of the same class.
    static var next: UnsafeMutableRawPointer? {
        get { pthread_getspecific(key) }
        set { pthread_setspecific(key, newValue) }
    }

    static func identity(_ type: AnyObject.Type) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: ObjectIdentifier(type)))
    }

    /// Whether the properties that a class declares are now made for a row, and not those of another model.
    static func begins(_ type: AnyObject.Type) -> Bool {
        guard let expected = next, expected == identity(type) else { return false }
        next = nil
        return true
    }

    static func goOn(to superclass: AnyObject.Type) { next = identity(superclass) }
}
