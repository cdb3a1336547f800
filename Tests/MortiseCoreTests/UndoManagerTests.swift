import Foundation
import Synchronization
import Testing

@testable import MortiseCore

/// The class that stands in for Foundation's on Linux.
@Suite struct UndoManagerTests {
    /// What actions change.
    final class Counter {
        var value = 0
        var log: [String] = []

        /// Sets the value, and registers what sets it back.
        func set(_ new: Int, _ manager: UndoManager) {
            let old = value
            value = new
            manager.registerUndo(withTarget: self) { $0.set(old, manager) }
        }
    }

    /// A manager without groups by event, whose misuses are counted.
    final class Subject {
        let manager = UndoManager()
        let counter = Counter()
        var misuses: [String] = []

        init(byEvent: Bool = false) {
            manager.groupsByEvent = byEvent
            manager.onMisuse = { [unowned self] in misuses.append($0) }
        }

        func group(_ name: String = "", _ body: () -> Void) {
            manager.beginUndoGrouping()
            body()
            if !name.isEmpty { manager.setActionName(name) }
            manager.endUndoGrouping()
        }
        func set(_ value: Int) { group { counter.set(value, manager) } }
    }

    @Test func undoGoesBackGroupByGroupAndRedoForth() {
        let it = Subject()
        for value in 1...3 { it.set(value) }
        #expect(it.manager.undoCount == 3 && it.manager.canUndo && !it.manager.canRedo)
        it.manager.undo()
        #expect(it.counter.value == 2 && it.manager.redoCount == 1)
        it.manager.undo()
        it.manager.redo()
        #expect(it.counter.value == 2)
        it.manager.redo()
        it.manager.redo()
        #expect(it.counter.value == 3 && it.manager.undoCount == 3 && it.misuses.isEmpty)
    }

    @Test func theActionsOfAGroupAreUndoneLastToFirst() {
        let it = Subject()
        it.group {
            for name in ["a", "b", "c"] { it.manager.registerUndo(withTarget: it.counter) { $0.log.append(name) } }
        }
        it.manager.undo()
        #expect(it.counter.log == ["c", "b", "a"])
    }

    /// U5: the class of Foundation leaves a step that does nothing.
    @Test func aGroupWithoutActionsIsNoStep() {
        let it = Subject()
        it.set(1)
        it.group {}
        it.group { it.group {} }
        #expect(it.manager.undoCount == 1)
        it.manager.undo()
        #expect(it.counter.value == 0)
    }

    /// U4
    @Test func undoInsideAGroupByHandIsAMisuseAndChangesNothing() {
        let it = Subject()
        it.manager.beginUndoGrouping()
        it.counter.set(1, it.manager)
        it.manager.beginUndoGrouping()
        it.counter.set(2, it.manager)
        it.manager.undo()
        #expect(it.counter.value == 2 && it.misuses.count == 1 && it.manager.groupingLevel == 2)
        it.manager.endUndoGrouping()
        // At level 1 it closes the group first.
        it.manager.undo()
        #expect(it.counter.value == 0 && it.misuses.count == 1 && it.manager.groupingLevel == 0)
        it.manager.redo()
        #expect(it.counter.value == 2)
    }

    @Test func aNestedGroupIsUndoneByItself() {
        let it = Subject()
        it.set(1)
        it.manager.beginUndoGrouping()
        it.counter.set(2, it.manager)
        it.manager.beginUndoGrouping()
        it.counter.set(3, it.manager)
        it.manager.undoNestedGroup()
        #expect(it.counter.value == 2 && it.manager.groupingLevel == 2)
        it.manager.endUndoGrouping()
        it.manager.endUndoGrouping()
        #expect(it.manager.undoCount == 2 && it.misuses.isEmpty)
    }

    /// U6
    @Test func registeringForgetsWhatCouldBeRedoneUnlessItIsDisabled() {
        let it = Subject()
        it.set(1)
        it.manager.undo()
        it.manager.disableUndoRegistration()
        it.group { it.counter.set(7, it.manager) }
        it.manager.enableUndoRegistration()
        #expect(it.manager.canRedo && it.manager.undoCount == 0)
        it.manager.redo()
        #expect(it.counter.value == 1)
        it.set(2)
        it.set(3)
        it.manager.undo()
        it.manager.undo()
        it.manager.redo()
        // Redoing registers too, and keeps the rest.
        #expect(it.manager.redoCount == 1)
        it.set(9)
        #expect(it.manager.redoCount == 0 && !it.manager.canRedo)
    }

    @Test func disablingIsCounted() {
        let it = Subject()
        it.manager.disableUndoRegistration()
        it.manager.disableUndoRegistration()
        it.manager.enableUndoRegistration()
        #expect(!it.manager.isUndoRegistrationEnabled)
        it.set(1)
        it.manager.enableUndoRegistration()
        #expect(it.manager.isUndoRegistrationEnabled && !it.manager.canUndo)
        it.manager.enableUndoRegistration()
        #expect(it.misuses.count == 1 && it.manager.isUndoRegistrationEnabled)
    }

    /// U7
    @Test func theOldestStepsGoBeyondTheLevels() {
        let it = Subject()
        it.manager.levelsOfUndo = 3
        for value in 1...5 { it.set(value) }
        #expect(it.manager.undoCount == 3)
        it.manager.levelsOfUndo = 1
        #expect(it.manager.undoCount == 1)
        it.manager.undo()
        #expect(it.counter.value == 4 && !it.manager.canUndo)
        it.manager.levelsOfUndo = 0
        for value in 1...9 { it.set(value) }
        #expect(it.manager.undoCount == 9)
    }

    /// U8
    @Test func notificationsComeInTheOrderOfFoundation() {
        let it = Subject()
        let names: [(Notification.Name, String)] = [
            (.NSUndoManagerCheckpoint, "checkpoint"), (.NSUndoManagerDidOpenUndoGroup, "opened"),
            (.NSUndoManagerWillCloseUndoGroup, "closing"), (.NSUndoManagerDidCloseUndoGroup, "closed"),
            (.NSUndoManagerWillUndoChange, "undoing"), (.NSUndoManagerDidUndoChange, "undone"),
            (.NSUndoManagerWillRedoChange, "redoing"), (.NSUndoManagerDidRedoChange, "redone"),
        ]
        nonisolated(unsafe) var seen: [String] = []
        let tokens = names.map { name, text in
            NotificationCenter.default.addObserver(forName: name, object: it.manager, queue: nil) { _ in
                seen.append(text)
            }
        }
        defer { tokens.forEach { NotificationCenter.default.removeObserver($0) } }
        func take() -> [String] {
            defer { seen = [] }
            return seen
        }
        it.manager.beginUndoGrouping()
        #expect(take() == ["opened"])
        it.manager.beginUndoGrouping()
        #expect(take() == ["checkpoint", "opened"])
        it.counter.set(1, it.manager)
        it.manager.endUndoGrouping()
        #expect(take() == ["checkpoint", "closing", "closed"])
        it.manager.endUndoGrouping()
        #expect(take() == ["checkpoint", "closing", "closed"])
        it.manager.undo()
        #expect(take() == ["checkpoint", "undoing", "opened", "checkpoint", "closing", "closed", "undone"])
        _ = it.manager.canRedo
        #expect(take() == ["checkpoint"])
        it.manager.redo()
        #expect(take() == ["checkpoint", "redoing", "opened", "checkpoint", "closing", "closed", "redone"])
    }

    /// U8
    @Test func whatIsRegisteredAtACheckpointIsInTheGroupThatCloses() {
        let it = Subject()
        let counter = it.counter
        nonisolated(unsafe) let manager = it.manager
        nonisolated(unsafe) let target = counter
        let isDone = Mutex(false)
        let token = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { _ in
            let isFirst = isDone.withLock { done in
                defer { done = true }
                return !done
            }
            if isFirst { manager.registerUndo(withTarget: target) { $0.log.append("pending") } }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        it.group { it.manager.registerUndo(withTarget: counter) { $0.log.append("first") } }
        #expect(it.manager.undoCount == 1)
        it.manager.undo()
        #expect(counter.log == ["pending", "first"] && it.misuses.isEmpty)
    }

    @Test func theManagerUndoesOnlyBetweenItsNotifications() {
        let it = Subject()
        it.set(1)
        nonisolated(unsafe) let manager = it.manager
        nonisolated(unsafe) var states: [Bool] = []
        let tokens = [Notification.Name.NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange].map {
            NotificationCenter.default.addObserver(forName: $0, object: manager, queue: nil) { _ in
                states.append(manager.isUndoing)
                manager.undo()
            }
        }
        defer { tokens.forEach { NotificationCenter.default.removeObserver($0) } }
        it.group { it.manager.registerUndo(withTarget: it.counter) { _ in states.append(manager.isUndoing) } }
        it.manager.undo()
        #expect(states == [false, true, false] && it.misuses.count == 2 && it.counter.value == 1)
    }

    /// U9
    @Test func namesFollowTheirSteps() {
        let it = Subject()
        it.manager.setActionName("nobody's")
        #expect(it.manager.undoActionName == "")
        it.group("Deposit") { it.counter.set(1, it.manager) }
        it.set(2)
        #expect(it.manager.undoActionName == "" && it.manager.undoMenuItemTitle == "Undo")
        it.manager.setActionName("Later")
        #expect(it.manager.undoMenuItemTitle == "Undo Later" && it.manager.redoMenuItemTitle == "Redo")
        it.manager.undo()
        #expect(it.manager.undoActionName == "Deposit" && it.manager.redoActionName == "Later")
        it.manager.undo()
        #expect(it.manager.redoMenuItemTitle == "Redo Deposit")
        it.manager.redo()
        it.manager.redo()
        #expect(it.manager.undoActionName == "Later")
        it.manager.setActionName("")
        #expect(it.manager.undoActionName == "")
        it.manager.beginUndoGrouping()
        it.manager.setActionName("Open")
        #expect(it.manager.undoActionName == "Open")
        it.manager.endUndoGrouping()
        #expect(it.manager.undoActionName == "")
    }

    @Test func titlesCanBeSaidOtherwise() {
        final class German: UndoManager {
            override init() { super.init() }
            override func undoMenuTitle(forUndoActionName actionName: String) -> String {
                "\(actionName) widerrufen"
            }
        }
        let manager = German()
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        manager.setActionName("Einzahlen")
        #expect(manager.undoMenuItemTitle == "Einzahlen widerrufen")
    }

    /// U10
    @Test func anActionWhoseTargetIsGoneDoesNothing() {
        let it = Subject()
        var other: Counter? = Counter()
        weak let gone = other
        it.group {
            it.counter.set(1, it.manager)
            it.manager.registerUndo(withTarget: other ?? it.counter) { $0.log.append("dangling") }
        }
        other = nil
        #expect(gone == nil)
        it.manager.undo()
        #expect(it.counter.value == 0 && it.counter.log.isEmpty)
    }

    /// U10
    @Test func theActionsOfATargetAreRemovedWithTheGroupsThatHaveNoOther() {
        let it = Subject()
        let other = Counter()
        it.set(1)
        it.group { other.set(1, it.manager) }
        it.group {
            other.set(2, it.manager)
            it.counter.set(2, it.manager)
        }
        it.manager.disableUndoRegistration()
        it.manager.removeAllActions(withTarget: other)
        #expect(it.manager.undoCount == 2 && !it.manager.isUndoRegistrationEnabled)
        it.manager.undo()
        it.manager.undo()
        #expect(it.counter.value == 0 && other.value == 2)
    }

    /// U10
    @Test func removingAllActionsEnablesRegistration() {
        let it = Subject()
        it.set(1)
        it.set(2)
        it.manager.undo()
        it.manager.disableUndoRegistration()
        it.manager.disableUndoRegistration()
        it.manager.removeAllActions()
        #expect(!it.manager.canUndo && !it.manager.canRedo && it.manager.isUndoRegistrationEnabled)
        it.set(3)
        #expect(it.manager.undoCount == 1 && it.misuses.isEmpty)
    }

    /// U11
    @Test func undoWithinAnUndoIsAMisuse() {
        let it = Subject()
        it.set(1)
        it.group {
            it.manager.registerUndo(withTarget: it.counter) { [manager = it.manager] _ in
                manager.undo()
                manager.redo()
                manager.undoNestedGroup()
                manager.endUndoGrouping()
            }
        }
        it.manager.undo()
        #expect(it.misuses.count == 4 && it.counter.value == 1 && it.manager.undoCount == 1)
    }

    /// U11
    @Test func aGroupIsDiscardableIfAllOfItIs() {
        let it = Subject()
        nonisolated(unsafe) var keys: [Bool?] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerWillCloseUndoGroup, object: it.manager, queue: nil
        ) { keys.append($0.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool) }
        defer { NotificationCenter.default.removeObserver(token) }
        func group(_ discardable: [Bool]) {
            it.group {
                for flag in discardable {
                    it.counter.set(it.counter.value + 1, it.manager)
                    it.manager.setActionIsDiscardable(flag)
                }
            }
        }
        group([true, false])
        #expect(!it.manager.undoActionIsDiscardable)
        group([true, true])
        #expect(it.manager.undoActionIsDiscardable && keys == [nil, true])
        it.manager.undo()
        #expect(it.manager.redoActionIsDiscardable && !it.manager.undoActionIsDiscardable)
    }

    @Test func valuesFollowTheirSteps() {
        let it = Subject()
        let key = UndoManager.UserInfoKey("place")
        it.group {
            it.counter.set(1, it.manager)
            it.manager.setActionUserInfoValue(7, forKey: key)
            #expect(it.manager.undoActionUserInfoValue(forKey: key) as? Int == 7)
        }
        it.set(2)
        #expect(it.manager.undoActionUserInfoValue(forKey: key) == nil)
        it.manager.undo()
        #expect(it.manager.undoActionUserInfoValue(forKey: key) as? Int == 7)
        it.manager.undo()
        #expect(it.manager.redoActionUserInfoValue(forKey: key) as? Int == 7)
    }

    @Test func closingWhatIsNotOpenIsAMisuseAndRegisteringWithoutAGroupMakesOne() {
        let it = Subject()
        it.manager.endUndoGrouping()
        #expect(it.misuses.count == 1)
        it.counter.set(1, it.manager)
        #expect(it.misuses.count == 2 && it.manager.undoCount == 1 && it.manager.groupingLevel == 0)
        it.manager.undo()
        #expect(it.counter.value == 0)
    }

    // MARK: Groups by event

    /// U3
    @Test @MainActor func aJobOfTheMainActorIsOneStep() async {
        let it = Subject(byEvent: true)
        it.counter.set(1, it.manager)
        it.counter.set(2, it.manager)
        #expect(it.manager.groupingLevel == 1 && it.manager.canUndo && it.manager.undoCount == 0)
        while it.manager.groupingLevel > 0 { await Task.yield() }
        it.counter.set(3, it.manager)
        while it.manager.groupingLevel > 0 { await Task.yield() }
        #expect(it.manager.undoCount == 2)
        it.manager.undo()
        #expect(it.counter.value == 2)
        it.manager.undo()
        #expect(it.counter.value == 0)
    }

    /// U3
    @Test @MainActor func anEventDoesNotCloseAGroupByHandWhichMayOutliveIt() async {
        let it = Subject(byEvent: true)
        it.manager.beginUndoGrouping()
        #expect(it.manager.groupingLevel == 2)
        it.counter.set(1, it.manager)
        for _ in 0..<10 { await Task.yield() }
        #expect(it.manager.groupingLevel == 2)
        it.counter.set(2, it.manager)
        it.manager.endUndoGrouping()
        #expect(it.manager.groupingLevel == 0 && it.manager.undoCount == 1)
        it.manager.undo()
        #expect(it.counter.value == 0)
    }

    /// U3: elsewhere nothing tells the end of an event.
    @Test func withoutARunLoopAndAnActorUndoAndTheNextGroupEndTheEvent() {
        // A thread of its own: a test may run on the main one.
        let done = DispatchSemaphore(value: 0)
        let failures = Mutex<[String]>([])
        Thread.detachNewThread {
            let it = Subject(byEvent: true)
            func check(_ holds: Bool, _ text: String) { if !holds { failures.withLock { $0.append(text) } } }
            it.counter.set(1, it.manager)
            it.counter.set(2, it.manager)
            check(it.manager.groupingLevel == 1, "the event's group is open")
            it.group { it.counter.set(3, it.manager) }
            check(it.manager.undoCount == 1 && it.manager.groupingLevel == 1, "the next group ends the event")
            it.manager.undo()
            check(it.counter.value == 2, "undo ends the second event")
            it.manager.undo()
            check(it.counter.value == 0, "the first event is one step")
            check(it.misuses.isEmpty, "no misuse")
            done.signal()
        }
        done.wait()
        #expect(failures.withLock { $0 } == [])
    }

    @Test func aRunLoopEndsTheEventAfterItsCode() {
        let done = DispatchSemaphore(value: 0)
        let failures = Mutex<[String]>([])
        Thread.detachNewThread {
            let it = Subject(byEvent: true)
            nonisolated(unsafe) let subject = it
            func check(_ holds: Bool, _ text: String) { if !holds { failures.withLock { $0.append(text) } } }
            for value in [1, 3] {
                RunLoop.current.perform {
                    subject.counter.set(value, subject.manager)
                    subject.counter.set(value + 1, subject.manager)
                }
                let limit = Date(timeIntervalSinceNow: 60)
                repeat {
                    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
                } while it.manager.undoCount < (value + 1) / 2 && limit > Date()
            }
            check(it.manager.undoCount == 2 && it.manager.groupingLevel == 0, "two turns are two steps")
            it.manager.undo()
            check(it.counter.value == 2, "the second step is undone")
            done.signal()
        }
        done.wait()
        #expect(failures.withLock { $0 } == [])
    }

    @Test @MainActor func aManagerThatIsGoneLeavesNothingBehind() async {
        weak var gone: UndoManager?
        do {
            let manager = UndoManager()
            gone = manager
            manager.registerUndo(withTarget: manager) { _ in }
        }
        #expect(gone == nil)
        for _ in 0..<10 { await Task.yield() }
    }
}
