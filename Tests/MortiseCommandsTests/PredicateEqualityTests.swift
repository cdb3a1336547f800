#if Tool
import Foundation
@testable import MortiseCommands
@testable import MortiseCore
import Testing

/// A predicate as text becomes what `#Predicate` is lowered to.
@Suite struct PredicateEqualityTests {
    private func expect(
        _ text: String, _ predicate: Predicate<Memo>, at location: SourceLocation = #_sourceLocation
    ) throws {
        let schema = Schema(Memo.self)
        let read = try PredicateText(schema: schema.stored, storeIdentifier: "s").conditions(text, entity: "Memo")
        #expect(read == LoweredPredicate(predicate).conjuncts, sourceLocation: location)
    }

    @Test func isWhatThePredicateIsLoweredTo() throws {
        try expect("title == 'a'", #Predicate { $0.title == "a" })
        try expect("size > 3 and title != 'b'", #Predicate { $0.size > 3 && $0.title != "b" })
        try expect("size <= 3 or not (title < 'b')", #Predicate { $0.size <= 3 || !($0.title < "b") })
        try expect("size + 1 == 3", #Predicate { $0.size + 1 == 3 })
        try expect("-size % 2 == 1", #Predicate { -$0.size % 2 == 1 })
        try expect("remark == nil", #Predicate { $0.remark == nil })
        try expect(
            "title contains 'x' and title beginsWith 'y'",
            #Predicate { $0.title.contains("x") && $0.title.starts(with: "y") })
        try expect("title.count == 2 and title.isEmpty", #Predicate { $0.title.count == 2 && $0.title.isEmpty })
        try expect("folder.name == 'inbox'", #Predicate { $0.folder?.name == "inbox" })
        try expect("folder == nil", #Predicate { $0.folder == nil })
        let names = ["a", "b"]
        try expect("title in ['a', 'b']", #Predicate { names.contains($0.title) })
        try expect("size between 1 and 4", #Predicate { $0.size >= 1 && $0.size <= 4 })
        try expect("remark contains ''", #Predicate { $0.remark?.contains("") == true })
    }

    @Test func quantifiersToo() throws {
        let schema = Schema(Memo.self)
        let read = PredicateText(schema: schema.stored, storeIdentifier: "s")
        let any = try read.conditions("any memos (size > 3)", entity: "MemoFolder")
        let all = try read.conditions("all memos (size > 3 and title == 'x') and memos.count > 1", entity: "MemoFolder")
        let few = try read.conditions("count memos (size > 3) < 2", entity: "MemoFolder")
        #expect(any == LoweredPredicate<MemoFolder>(#Predicate { $0.memos.contains { $0.size > 3 } }).conjuncts)
        #expect(
            all
                == LoweredPredicate<MemoFolder>(
                    #Predicate { $0.memos.allSatisfy { $0.size > 3 && $0.title == "x" } && $0.memos.count > 1 }
                ).conjuncts)
        #expect(few == LoweredPredicate<MemoFolder>(#Predicate { $0.memos.filter { $0.size > 3 }.count < 2 }).conjuncts)
    }
}
#endif
