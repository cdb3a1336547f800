import Foundation

/// Ends a program that was built without a trait of the package that it needs, after one line on the standard error that says
/// how to build it with the trait.
///
/// The exit status is 69, which `sysexits.h` has for a service that is not available.
public func endForMissingTrait(_ trait: String, program: String) -> Never {
    let line = "\(program): built without the trait \(trait), which it needs: swift run --traits \(trait) \(program)\n"
    FileHandle.standardError.write(Data(line.utf8))
    exit(69)
}
