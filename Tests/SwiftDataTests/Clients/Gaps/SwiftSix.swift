import SwiftData

@MainActor func checkSwiftFive(_ container: ModelContainer) throws {}
let swiftFiveModels: [any PersistentModel.Type] = []
