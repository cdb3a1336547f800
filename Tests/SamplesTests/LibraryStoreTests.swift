import Mortise
import Testing

@testable import MusicLibrarySample

/// The main job takes part in a database that its user names, in a schema of its own, or says why not.
struct LibraryStoreTests {
    @Test(arguments: [
        ("postgres://ada@host/shop", "postgres://ada@host/shop?schema=mortise_music_library"),
        ("postgres://host/shop?pool=2", "postgres://host/shop?pool=2&schema=mortise_music_library"),
    ]) func aDatabaseIsUsedInASchemaOfItsOwn(url: String, used: String) {
        let server = LibraryStore.server([LibraryStore.serverVariable: url])
        #expect(server.store?.url == used && server.store?.kind == "postgres" && server.leftOut == nil)
    }

    @Test(
        arguments: [
            (nil, "set MORTISE_POSTGRES_URL"), ("", "set MORTISE_POSTGRES_URL"), ("log:shop.log", "no URL that begins"),
            ("postgres://host/shop?schema=public", "names a schema"),
        ] as [(String?, String)]) func whatIsLeftOutSaysWhy(url: String?, reason: String)
    {
        let server = LibraryStore.server(url.map { [LibraryStore.serverVariable: $0] } ?? [:])
        #expect(server.store == nil && server.leftOut?.contains(reason) == true)
    }

    /// No kind of this build is missing without a word.
    @Test func everyKindIsThereOrLeftOut() {
        let kinds = LibraryStore.all(in: "folder").map(\.kind)
        for scheme in StoreRegistry.standard.knownSchemes.map(\.name) {
            #expect(kinds.contains(scheme) || LibraryStore.leftOut.contains { $0.hasPrefix(scheme + ":") }, "\(scheme)")
        }
    }
}
