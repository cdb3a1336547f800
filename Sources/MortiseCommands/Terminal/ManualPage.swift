#if Tool
import ArgumentParser
import Foundation

/// The commands as the argument parser describes them.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?
        let discussion: String?
    }

    private struct Whole: Decodable { let command: CommandDescription }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?

    /// The description of a command with all its subcommands.
    /// - Throws: `DecodingError`, if the argument parser describes commands in another form.
    init(of command: any ParsableCommand.Type) throws {
        self = try JSONDecoder().decode(Whole.self, from: Data(command._dumpHelp().utf8)).command
    }

    /// The subcommands but for `help`, which the argument parser adds.
    var verbs: [CommandDescription] { (subcommands ?? []).filter { $0.commandName != "help" } }
}

/// A page for `man`, of one command.
struct ManualPage {
    /// The command with those that it belongs to, such as `mortise schema show`.
    let path: [String]
    private let command: CommandDescription

    /// What the page is called, without the section.
    var name: String { path.joined(separator: "-") }

    /// The pages of a command and of all below it, its own first.
    static func pages(of command: CommandDescription, below path: [String] = []) -> [ManualPage] {
        let own = path + [command.commandName]
        return [ManualPage(path: own, command: command)] + command.verbs.flatMap { pages(of: $0, below: own) }
    }

    /// The page in the language of `man`.
    var text: String {
        var lines = [
            ".TH \"\(Self.escaped(name.uppercased()))\" 1 \"\" \"\(Self.escaped(path[0]))\"", ".SH NAME",
            Self.escaped("\(name) - \(command.abstract ?? "")"), ".SH SYNOPSIS",
        ]
        lines.append(".B " + Self.escaped(path.joined(separator: " ")))
        if !command.verbs.isEmpty { lines.append(Self.escaped("<verb>")) }
        lines += arguments.map { Self.escaped(Self.synopsis($0)) }
        lines += section("DESCRIPTION", of: command.discussion)
        if !arguments.isEmpty {
            lines.append(".SH OPTIONS")
            for argument in arguments {
                lines += [".TP", ".B " + Self.escaped(Self.heading(argument))]
                lines.append(contentsOf: Self.description(argument).map(Self.escaped))
            }
        }
        if !command.verbs.isEmpty {
            lines.append(".SH VERBS")
            for verb in command.verbs {
                lines += [".TP", ".BR \(Self.escaped(name + "-" + verb.commandName)) (1)"]
                lines.append(Self.escaped(verb.abstract ?? ""))
            }
        }
        if path.count > 1 {
            lines += [".SH SEE ALSO", ".BR \(Self.escaped(path.dropLast().joined(separator: "-"))) (1)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var arguments: [CommandDescription.Argument] { (command.arguments ?? []).filter(\.shouldDisplay) }

    /// Paragraphs, and what follows the word EXAMPLES as it is written.
    private func section(_ title: String, of discussion: String?) -> [String] {
        guard let discussion else { return [] }
        var lines = [".SH \(title)"]
        var isExample = false
        for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "EXAMPLES" {
                if [".PP", ".SH \(title)"].contains(lines.last) { lines.removeLast() }
                lines += [".SH EXAMPLES", ".nf"]
                isExample = true
            } else if line.allSatisfy(\.isWhitespace) {
                lines.append(isExample ? ".sp" : ".PP")
            } else {
                let text = line.drop(while: \.isWhitespace)
                lines.append(Self.escaped(String(text)))
            }
        }
        if isExample { lines.append(".fi") }
        return lines == [".SH \(title)"] ? [] : lines
    }

    private static func synopsis(_ argument: CommandDescription.Argument) -> String {
        var text = heading(argument, names: argument.names?.last.map { [$0] } ?? [])
        if argument.isRepeating { text += " ..." }
        return argument.isOptional ? "[\(text)]" : text
    }

    private static func heading(
        _ argument: CommandDescription.Argument, names: [CommandDescription.Argument.Name]? = nil
    ) -> String {
        let value = "<\(argument.valueName ?? "value")>"
        switch argument.kind {
        case "positional": return value
        case "flag": return (names ?? argument.names ?? []).map(\.text).joined(separator: ", ")
        default: return (names ?? argument.names ?? []).map { "\($0.text) \(value)" }.joined(separator: ", ")
        }
    }

    private static func description(_ argument: CommandDescription.Argument) -> [String] {
        let value = argument.kind == "flag" ? nil : argument.defaultValue.map { "The default is \($0)." }
        return [argument.abstract, argument.discussion, value].compactMap(\.self)
            .flatMap { $0.split(separator: "\n").map(String.init) }
    }

    /// The text as it appears: nothing in it is a request or an escape.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "\"": result += "\\(dq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
#endif
