import Foundation

// Answers what tests ask about source text: each line of the input is `expand` or `undocumented`, a space and JSON without
// line breaks, and each line of the output the JSON that answers it.

let encoder = JSONEncoder()
while let line = readLine() {
    let parts = line.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { break }
    let input = Data(parts[1].utf8)
    let answer: Data
    switch parts[0] {
    case "expand":
        answer = try encoder.encode(Expansion(of: JSONDecoder().decode(ExpansionRequest.self, from: input)))
    case "undocumented":
        let sources = try JSONDecoder().decode([String].self, from: input)
        answer = try encoder.encode(sources.map { UndocumentedDeclarations(in: $0).found })
    default:
        FileHandle.standardError.write(Data("SourceTools: expected expand or undocumented, found \(parts[0])\n".utf8))
        exit(64)
    }
    FileHandle.standardOutput.write(answer + Data("\n".utf8))
}
