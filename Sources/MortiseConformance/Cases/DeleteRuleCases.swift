import MortiseCore

extension ConformanceCase {
    static let deleteRuleCases: [ConformanceCase] = [
        ConformanceCase(
            "delete-rules.cascade", level: .core,
            requirement: "Deleting a record deletes what it cascades to, to every depth, and nothing else.",
            hint: "A save with several deletions carries out the first one only, or children go with another parent."
        ) { c in
            let a = try c.session()
            let album = Album("gone")
            let track = Track("t1", album: album)
            a.insert(track, Track("t2", album: album), Lyric("l1", track: track), Lyric("l2", track: track))
            try a.store(Track("kept", album: Album("stays")), Lyric("loose"))
            a.delete(album)
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Album.self).map(\.title), is: ["stays"], "albums:")
            try c.expect(try b.all(Track.self).map(\.title), is: ["kept"], "tracks:")
            try c.expect(try b.all(Lyric.self).map(\.text), is: ["loose"], "lyrics:")
            try c.expect(try b.all(Album.self).first?.tracks.map(\.title), is: ["kept"], "tracks of the other album:")
        },
        ConformanceCase(
            "delete-rules.nullify", level: .core,
            requirement: "Deleting a record clears the references of those that its relationship nullifies.",
            hint: "The updated snapshots of a save that also deletes are not written."
        ) { c in
            let a = try c.session()
            let red = Team("red")
            a.insert(Person("Ada", team: red), Person("Bob", team: red))
            try a.store(Person("Eve", team: Team("blue")))
            a.delete(red)
            try a.save()
            let b = try c.session()
            try c.expect(
                try b.all(Person.self).map { $0.team?.name }, is: [nil, nil, "blue"], "teams of the people:")
            try c.expect(try b.all(Person.self).map(\.name), is: ["Ada", "Bob", "Eve"], "people:")
            for record in try c.store.records(Person.self) where record.identifier.entityName == "Person" {
                let related = record.related("team") ?? []
                try c.expect(
                    !related.contains(red.persistentModelID), "no reference to the deleted team in the store",
                    found: "\(related) in \(record.identifier)")
            }
        },
        ConformanceCase(
            "delete-rules.nullify-many-to-many", level: .core,
            requirement: "Deleting one side of a many-to-many relationship takes it out of the other's members.",
            hint: "Pairs are left behind when one of their records goes."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let one = Project("one")
            let two = Project("two")
            a.insert(ada, one, two)
            ada.projects = [one, two]
            one.people.append(Person("Bob"))
            try a.save()
            a.delete(one)
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Person.self).map { $0.projects.map(\.title) }, is: [["two"], []], "projects:")
            a.delete(ada)
            try a.save()
            try c.expect(try c.session().only(Project.self).people.map(\.name), is: [], "people of the other project:")
        },
        ConformanceCase(
            "delete-rules.deny", level: .core,
            requirement:
                "Deleting a record whose relationship denies it fails while that holds models, and works after.",
            hint: "The rule is checked by the context; a store that sees the deletion was reached without a check."
        ) { c in
            let a = try c.session()
            let vault = Vault("v")
            let coin = Coin(5, vault: vault)
            try a.store(coin)
            a.delete(vault)
            try c.expectError(
                "ModelValidationError.deletionDenied",
                matching: { if case .deletionDenied? = $0 as? ModelValidationError { true } else { false } }
            ) { try a.save() }
            try c.expect(try c.session().all(Vault.self).map(\.name), is: ["v"], "vaults after the refused save:")
            a.delete(coin)
            try a.save()
            try c.expect(try c.session().all(Vault.self).count, is: 0, "vaults after the coin went too:")
        },
        ConformanceCase(
            "delete-rules.no-action", level: .core,
            requirement:
                "With no action a deletion fails while something refers to the record, and works once nothing does.",
            hint: "The rule is checked by the context; a store that sees the deletion was reached without a check."
        ) { c in
            let a = try c.session()
            let binder = Binder("b")
            let sheet = Sheet(1, binder: binder)
            try a.store(sheet)
            a.delete(binder)
            try c.expectError(
                "ModelValidationError.refersToDeleted",
                matching: { if case .refersToDeleted? = $0 as? ModelValidationError { true } else { false } }
            ) { try a.save() }
            try c.expect(try c.session().only(Sheet.self).binder?.name, is: "b", "binder after the refused save:")
            a.change("clear the sheet's binder") { sheet.binder = nil }
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Binder.self).count, is: 0, "binders:")
            try c.expect(try b.only(Sheet.self).binder?.name, is: nil, "binder of the sheet:")
        },
    ]
}
