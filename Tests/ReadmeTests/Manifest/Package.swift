// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Travels",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../Mortise")
    ],
    targets: [
        .executableTarget(
            name: "Travels",
            dependencies: [.product(name: "Mortise", package: "Mortise")])
    ]
)
