import FaultWorkload
import Foundation
import MortiseEngine
import MortiseJSONFile
import Synchronization
import Testing
import MortiseTestSupport

@Suite struct OpeningAtOnceTests {
    @Test func aStoreOpensAndClosesWhileAnotherIsBeingOpened() throws {
        let (slow, quick) = (try Depot(state: 1), try Depot(state: 1))
        let isEnded = Mutex(false)
        let quickConfiguration = quick.configuration()
        slow.disk.interject(of: .read) {
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do { try Workload.openStore(quickConfiguration).close() } catch { Issue.record(error) }
                isDone.signal()
            }
            isEnded.withLock { $0 = isDone.wait(timeout: .now() + 10) == .success }
        }
        try Workload.openStore(slow.configuration()).close()
        #expect(isEnded.withLock { $0 })
    }
}
