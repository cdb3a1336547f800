import Foundation
import Mortise

@Model
class Vehicle {
    @Attribute(.unique) var plate: String
    var wheels: Int = 4
    var garage: Garage?
    init(plate: String) { self.plate = plate }
}

@Model
class Lorry: Vehicle {
    var load: Double = 0
    init(plate: String, load: Double) {
        self.load = load
        super.init(plate: plate)
    }
}

@Model
final class Tanker: Lorry {
    var liquid: String = "milk"
    init(plate: String, load: Double, liquid: String) {
        self.liquid = liquid
        super.init(plate: plate, load: load)
    }
}

@Model
final class Coach: Vehicle {
    var seats: Int = 50
    var operatorName: String = ""
    init(plate: String, seats: Int) {
        self.seats = seats
        super.init(plate: plate)
    }
}

@Model
final class Garage {
    var name: String
    @Relationship(inverse: \Vehicle.garage) var vehicles: [Vehicle] = []
    init(name: String) { self.name = name }
}

func fleetContainer() throws -> ModelContainer {
    try memory(Vehicle.self, Lorry.self, Tanker.self, Coach.self, Garage.self)
}
