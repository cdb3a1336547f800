import Foundation
import Mortise
import Testing

/// Bugs: setting what is there marked the model as changed; an array with a model twice gave it twice until the save.
@Suite struct UnchangedValueTests {
    let context: ModelContext
    let guild = Guild("g")
    let members = (0..<3).map { Apprentice("\($0)") }

    init() throws {
        context = ModelContext(try familyContainer())
        guild.apprentices = members
        context.insert(guild)
        try context.save()
    }

    @Test func settingWhatIsThereChangesNothing() throws {
        guild.name = guild.name
        guild.apprentices.reverse()
        guild.apprentices = guild.apprentices + guild.apprentices
        guild.seal = nil
        guild.masters = []
        members[0].guild = guild
        #expect(!context.hasChanges && !guild.hasChanges)
        guild.name = "h"
        guild.name = "g"
        #expect(context.hasChanges)
        try context.save()
        members[0].guild = nil
        #expect(context.changedModelsArray.count == 2)
    }

    @Test func everyKindOfValueIsComparedToTheLastBit() throws {
        let context = ModelContext(try memory(Everything.self))
        let model = Everything(
            flag: true, uuid: UUID(), url: URL(filePath: "/a"), address: Address(street: "s", number: 1))
        model.float = -0.0
        model.double = .nan
        model.text = "e\u{301}"
        context.insert(model)
        try context.save()
        model.flag = model.flag
        model.int8 = model.int8
        model.uint64 = model.uint64
        model.float = model.float
        model.double = model.double
        model.decimal = model.decimal
        model.text = model.text
        model.data = model.data
        model.date = model.date
        model.uuid = model.uuid
        model.url = model.url
        model.mood = model.mood
        model.address = model.address
        model.table = model.table
        model.maybeText = nil
        model.maybeMood = nil
        model.maybeAddress = nil
        #expect(!context.hasChanges)
        model.float = 0
        #expect(context.hasChanges)
        try context.save()
        model.text = "\u{e9}"
        #expect(context.hasChanges, "the same to Swift, but not the same bytes")
    }

    @Test func aModelGivenTwiceIsAMemberOnce() throws {
        let x = members[0]
        guild.apprentices = []
        guild.apprentices = [x, x, members[1]]
        #expect(guild.apprentices.count == 2)
        guild.apprentices.removeAll { $0 === x }
        guild.apprentices += [x, x]
        #expect(guild.apprentices.count == 2)
        try context.save()
        #expect(guild.apprentices.count == 2)
    }
}
