// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Trips",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../Mortise")
    ],
    targets: [
        .executableTarget(
            name: "Trips",
            dependencies: [.product(name: "Mortise", package: "Mortise")])
    ]
)
