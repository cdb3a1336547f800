#if Tool
import Foundation
@testable import MortiseCommands
import Testing

/// `mortise man`: pages made of the commands.
@Suite struct ManualTests {
    @Test func everyVerbHasAPageWithItsOptions() throws {
        let folder = try ToolFolder()
        let run = try ToolRun("man", "--to", folder.path("man1"))
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("man1"))
        #expect(Set(names).isSuperset(of: ["mortise.1", "mortise-fetch.1", "mortise-schema-show.1", "mortise-man.1"]))
        #expect(run.output.hasPrefix("wrote \(names.count) pages"))
        let requests = [".TH", ".SH", ".TP", ".B", ".BR", ".PP", ".nf", ".fi", ".sp"]
        for name in names {
            let page = try String(contentsOfFile: folder.path("man1/" + name), encoding: .utf8)
            #expect(page.hasPrefix(".TH \"MORTISE"))
            for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
                #expect(requests.contains(String(line.prefix { $0 != " " })), "\(name): \(line)")
            }
            let verb = name.dropLast(2).split(separator: "-").dropFirst().map(String.init)
            guard verb != ["new", "adapter"] else { continue }
            let help = try ToolRun(verb + ["--help"]).output
            for match in help.matches(of: /(?m)^  (--[a-z-]+)/) {
                #expect(page.contains(match.1.replacingOccurrences(of: "-", with: "\\-")), "\(name): \(match.1)")
            }
            for match in page.matches(of: /\.BR (mortise[a-z\\-]+) \(1\)/) {
                #expect(names.contains(match.1.replacingOccurrences(of: "\\", with: "") + ".1"), "\(name): \(match.1)")
            }
        }
    }

    @Test func aPageIsPrinted() throws {
        let folder = try ToolFolder()
        let run = try ToolRun("man", "fetch")
        #expect(run.status == 0 && run.output.contains("mortise\\-fetch \\- Prints records."))
        #expect(run.output.contains(".SH EXAMPLES\n.nf\nmortise fetch json:library.json"))
        #expect(try ToolRun("man", "schema", "diff").output.contains("MORTISE\\-SCHEMA\\-DIFF"))
        let unknown = try ToolRun("man", "fecth")
        #expect(unknown.status == ToolExitStatus.usage && unknown.errors.contains("did you mean \"fetch\""))
        try Data().write(to: URL(fileURLWithPath: folder.path("file")))
        let blocked = try ToolRun("man", "--to", folder.path("file"))
        #expect(blocked.status == ToolExitStatus.failedInputOutput && blocked.errorLines.count == 1, "\(blocked)")
    }
}
#endif
