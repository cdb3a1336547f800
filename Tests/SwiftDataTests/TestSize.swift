import Foundation

/// Whether this is a run of everything, rather than a small one.
let isFullSize = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
