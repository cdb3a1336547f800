import Mortise
import Testing

/// An initializer that surely forgets a property links nothing, so that the compiler says one thing. One that forgets
/// nothing, by whatever path, links what it was given.
///
/// Bug: a `fallthrough` that a semicolon ends was taken for a path on which a property is forgotten.
@Suite struct InitializerPathTests {
    enum Path: CaseIterable {
        case branchOrNever, branchOrDiscarded, choice, successOrNil, guarded, tuple, block, loop, chain,
            chainWithReturn, returnOrNever
        case returnOrBlockOfNever, endless, never

        fileprivate func make(at quay: Quay) throws -> Barge? {
            switch self {
            case .branchOrNever: Barge(quay, branch: true)
            case .branchOrDiscarded: Barge(quay, discarding: true)
            case .choice: Barge(quay, choice: 2)
            case .successOrNil: Barge(quay, success: true)
            case .guarded: try Barge(quay, guarded: true)
            case .tuple: Barge(quay, tuple: 1)
            case .block: Barge(quay, block: 1)
            case .loop: Barge(quay, loop: 1)
            case .chain: Barge(quay, chain: 2)
            case .chainWithReturn: Barge(quay, chain: 3)
            case .returnOrNever: Barge(quay, returning: true)
            case .returnOrBlockOfNever: Barge(quay, returningEarly: true)
            case .endless: Barge(quay, endless: 1)
            case .never: try Barge(quay, checking: 1)
            }
        }
    }

    @Test(arguments: Path.allCases) func whatAnInitializerWasGivenIsLinked(path: Path) throws {
        let quay = Quay()
        let barge = try #require(try path.make(at: quay))
        #expect(quay.barges == [barge])
    }
}

private struct Failure: Error {}
private func stop() -> Never { fatalError() }
private func check(_ number: Int) throws { if number > 1 { throw Failure() } }

@Model private final class Quay {
    @Relationship(inverse: \Barge.quay) var barges: [Barge] = []
    init() {}
}

@Model private final class Barge {
    var quay: Quay?
    var number: Int

    init(_ quay: Quay, branch: Bool) {
        self.quay = quay
        if branch { number = 1 } else { stop() }
    }
    init(_ quay: Quay, discarding: Bool) {
        self.quay = quay
        if discarding { number = 1 } else { _ = stop() }
    }
    init(_ quay: Quay, choice: Int) {
        self.quay = quay
        switch choice {
        case 1: number = 1
        // swift-format-ignore: OneStatementPerLine, DoNotUseSemicolons
        case 2: fallthrough;
        default: number = 3
        }
    }
    init?(_ quay: Quay, success: Bool) {
        self.quay = quay
        if success {
            number = 1
            return
        }
        return nil
    }
    init(_ quay: Quay, guarded: Bool) throws {
        self.quay = quay
        guard guarded else { throw Failure() }
        number = 1
    }
    init(_ quay: Quay, tuple: Int) { (self.quay, number) = (quay, tuple) }
    init(_ quay: Quay, block: Int) {
        do {
            self.quay = quay
            number = block
        }
    }
    init(_ quay: Quay, loop: Int) {
        self.quay = quay
        repeat { number = loop } while number > 1
    }
    init(_ quay: Quay, chain: Int) {
        self.quay = quay
        if chain == 1 {
            number = 1
        } else if chain == 2 {
            number = 2
        } else {
            number = 3
            return
        }
    }
    init(_ quay: Quay, returning: Bool) {
        if returning {
            self.quay = quay
            number = 1
            return
        }
        stop()
    }
    init(_ quay: Quay, returningEarly: Bool) {
        if returningEarly {
            self.quay = quay
            number = 1
            return
        } else {
            do { stop() }
        }
    }
    init(_ quay: Quay, endless: Int) {
        self.quay = quay
        while true {
            if endless > 0 {
                number = 1
                break
            }
        }
    }
    init(_ quay: Quay, checking: Int) throws {
        self.quay = quay
        number = checking
        try check(checking)
    }
}
