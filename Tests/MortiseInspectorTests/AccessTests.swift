#if Inspector
import Foundation
import Testing

/// Who sees pages, and who does not.
@Suite struct AccessTests {
    private func served(_ options: String...) throws -> (store: OddStore, run: InspectorRun) {
        let store = try OddStore()
        try store.insert([OddStore.thing("Anvil")])
        return (store, try InspectorRun([store.url] + options, keeping: store))
    }

    @Test(.timeLimit(.minutes(15))) func pagesNeedTheToken() throws {
        let (_, run) = try served()
        #expect(try run.get("/").status == 200)
        for path in ["/", "/s/0", "/s/0/e/Thing", "/s/0/export/Thing/csv", "/-/inspector.css"] {
            #expect(try run.get(path, ["Cookie": nil]).status == 401, "\(path)")
            #expect(try run.get(path, ["Cookie": "mortise-\(run.port)=\(run.token)"]).status == 401, "\(path)")
        }
        let wrong = String(run.token.dropLast()) + (run.token.last == "0" ? "1" : "0")
        #expect(try run.get("/?token=\(wrong)").status == 401)
        let entered = try run.get("/?token=\(run.token)", ["Cookie": nil])
        #expect(entered.status == 303 && entered.headers["location"] == "/")
        let cookie = entered.headers["set-cookie"] ?? ""
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(run.token))
        #expect(run.end() == 0)
    }

    @Test(.timeLimit(.minutes(15))) func noPageTellsTheTokenOrLoadsFromElsewhere() throws {
        let (_, run) = try served()
        for path in ["/", "/s/0", "/s/0/e/Thing", "/s/0/e/Thing/1", "/s/0/history", "/s/0/explain", "/nothing"] {
            let page = try run.get(path)
            #expect(page.headers["referrer-policy"] == "same-origin" && page.headers["cache-control"] == "no-store")
            let policy = page.headers["content-security-policy"] ?? ""
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe") && !policy.contains("http"))
            #expect(!page.body.contains(run.token) && !page.body.contains("://"), "\(path)")
            #expect(!page.body.contains(" style=") && page.body.firstMatch(of: #/ on[a-z]+=/#) == nil, "\(path)")
        }
    }

    @Test(.timeLimit(.minutes(15))) func anotherNameOfTheAddressIsRefused() throws {
        let (_, run) = try served()
        for host in [
            "evil.example:\(run.port)", "evil.example", "127.0.0.1", "127.0.0.1:1",
            "127.0.0.1.evil.example:\(run.port)",
        ] {
            #expect(try run.get("/", ["Host": host]).status == 421, "\(host)")
            #expect(try run.get("/?token=\(run.token)", ["Host": host]).headers["set-cookie"] == nil, "\(host)")
        }
        #expect(try run.get("/", ["Host": "LOCALHOST:\(run.port)"]).status == 200)
    }

    @Test(.timeLimit(.minutes(15))) func withoutEditNothingChanges() throws {
        let (store, run) = try served()
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        #expect(try run.get("/s/0/e/Thing/1?edit=1").status == 403)
        #expect(try run.get("/s/0/changes").status == 403)
        #expect(!(try run.get("/s/0/e/Thing/1").body.contains("method=\"post\"")))
        // Not even by who has found a token.
        #expect(try run.post("/s/0/e/Thing/1", ["action": "delete", "form": "0"]).status == 403)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
    }

    @Test(.timeLimit(.minutes(15))) func aFormOfAnotherSiteChangesNothing() throws {
        let (_, run) = try served("--edit")
        let page = try run.get("/s/0/e/Thing/1?edit=1")
        var form = page.fields
        form["form"] = page.formToken
        form["action"] = "stage"
        form["v0"] = "Hammer"
        #expect(page.formToken.count == 64)
        let own = "http://127.0.0.1:\(run.port)"
        for headers: [String: String?] in [
            ["Origin": "http://evil.example"], ["Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"],
            ["Origin": "null", "Sec-Fetch-Site": "cross-site"], ["Origin": "null", "Sec-Fetch-Site": nil],
            ["Origin": nil, "Sec-Fetch-Site": "cross-site"], ["Origin": own, "Sec-Fetch-Site": "same-site"],
            ["Cookie": nil],
        ] { #expect([401, 403].contains(try run.post("/s/0/e/Thing/1", form, headers).status), "\(headers)") }
        var forged = form
        forged["form"] = String(repeating: "0", count: 64)
        #expect(try run.post("/s/0/e/Thing/1", forged).status == 403)
        forged["form"] = nil
        #expect(try run.post("/s/0/e/Thing/1", forged).status == 403)
        #expect(try run.get("/s/0/changes").body.contains("Nothing is staged"))
        #expect(try run.post("/s/0/e/Thing/1", form).status == 303)
        #expect(try run.get("/s/0/changes").body.contains("Hammer"))
        // To an address of another machine, browsers send the origin alone, and with `no-referrer` not even that.
        form["v0"] = "Tongs"
        #expect(try run.post("/s/0/e/Thing/1", form, ["Sec-Fetch-Site": nil]).status == 303)
        #expect(try run.get("/s/0/changes").body.contains("Tongs"))
    }

    @Test(.timeLimit(.minutes(15))) func noPathLeadsOutOfTheStores() throws {
        let (_, run) = try served()
        for path in [
            "/../../etc/passwd", "/-/../inspector.css", "/-/..%2f..%2fetc%2fpasswd", "/s/1", "/s/-1", "/s/0/e/..",
            "/s/0/e/Thing/..%2f1", "/s/0/export/Thing/..", "/s/99999999999999999999", "/s/0/history/-1",
            "/s/0/e/Thing/1/..",
        ] { #expect(try run.get(path).status == 404, "\(path)") }
        #expect(try run.get("/s/0/e/%FF").status == 400)
    }
}
#endif
