// Off Apple platforms, `import SwiftData` means this module: what SwiftData's users write compiles unchanged.
@_exported public import Foundation
@_exported public import Mortise
@_exported public import Observation
