#if Inventory
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import Testing

/// The built service, asked by HTTP and ended as a system ends services.
@Suite struct InventoryServerTests {
    private struct Server {
        let process: Process
        let address: URL

        init(_ store: String) throws {
            process = Process()
            process.executableURL = SampleProgram(name: "inventory").executable
            // Any free port; the program prints which.
            process.arguments = [store, "0"]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            var text = ""
            while !text.contains("\n") {
                let piece = output.fileHandleForReading.availableData
                if piece.isEmpty { break }
                text += String(decoding: piece, as: UTF8.self)
            }
            address = try #require(URL(string: text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }

        func ask(
            _ method: String, _ path: String, _ body: Data? = nil, headers: [String: String] = [:]
        ) async throws -> (status: Int, body: Data, type: String) {
            var request = URLRequest(url: try #require(URL(string: path, relativeTo: address)))
            request.httpMethod = method
            request.httpBody = body
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            let (data, response) = try await URLSession.shared.data(for: request)
            let answer = try #require(response as? HTTPURLResponse)
            return (answer.statusCode, data, answer.value(forHTTPHeaderField: "Content-Type") ?? "")
        }

        func json(_ method: String, _ path: String, _ body: Any? = nil) async throws -> (status: Int, value: Any) {
            let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
            let answer = try await ask(method, path, data, headers: ["X-User": "ada"])
            return (answer.status, try JSONSerialization.jsonObject(with: answer.body, options: .fragmentsAllowed))
        }

        func end() {
            process.terminate()
            process.waitUntilExit()
        }
    }

    @Test(.timeLimit(.minutes(15))) func theServiceAnswersAndClosesItsStore() async throws {
        let sandbox = try Sandbox()
        let store = "log:" + sandbox.path("inventory.log")
        var server = try Server(store)
        let health = try await server.json("GET", "health")
        #expect(health.status == 200 && "\(health.value)".contains("healthy"))
        let entry: [String: Any] = ["code": "A", "name": "Anvil", "quantity": 2, "tags": ["metal"], "place": "Shed"]
        let added = try await server.json("POST", "items", entry)
        let id = try #require((added.value as? [String: Any])?["id"] as? String)
        #expect(added.status == 201)
        #expect(try await server.json("POST", "items", entry).status == 409)
        #expect(try await server.json("POST", "items", ["code": "B"]).status == 400)
        #expect(try await server.json("GET", "items/nonsense").status == 422)
        #expect(try await server.json("POST", "items/\(id)/movements", ["amount": -5, "reason": "sold"]).status == 409)
        let moved = try await server.json("POST", "items/\(id)/movements", ["amount": -1, "reason": "sold"])
        #expect((moved.value as? [String: Any])?["quantity"] as? Int == 1)
        let photo = Data(repeating: 5, count: 30_000)
        let attached = try await server.ask(
            "PUT", "items/\(id)/attachments/photo", photo, headers: ["Content-Type": "image/jpeg"])
        let item = try #require(JSONSerialization.jsonObject(with: attached.body) as? [String: Any])
        let attachment = try #require((item["attachments"] as? [String: String])?["photo"])
        let content = try await server.ask("GET", "attachments/\(attachment)")
        #expect(content.body == photo && content.type == "image/jpeg")
        let found = try await server.json("GET", "items?tag=metal&text=anv")
        #expect(((found.value as? [String: Any])?["items"] as? [Any])?.count == 1)
        let taken = try await server.json(
            "POST", "stocktaking", [["code": "C", "name": "Chisel", "quantity": 4, "tags": []]])
        #expect((taken.value as? [String: Any])?["added"] as? Int == 1)
        #expect(try await server.json("GET", "totals").value as? [String: Int] == ["Shed": 1, "": 4])
        let page = try await server.ask("GET", "audit", headers: ["Accept": "text/html"])
        #expect(page.type.hasPrefix("text/html") && String(decoding: page.body, as: UTF8.self).contains("<td>ada</td>"))
        server.end()
        #expect(server.process.terminationStatus == 0)
        server = try Server(store)
        #expect(try await server.json("GET", "items/\(id)").status == 200)
        #expect(try await server.json("DELETE", "items/\(id)").status == 200)
        #expect(try await server.json("GET", "items/\(id)").status == 404)
        server.end()
    }
}
#endif
