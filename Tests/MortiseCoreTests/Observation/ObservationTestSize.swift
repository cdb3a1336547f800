import Foundation

/// Whether random tests of observation take their full number of steps.
let isFullSize = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
