// Made by mortise schema models of version 3.0.0, storage 1083e86d53afd980cd216af29b251185.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Names: VersionedSchema {
    static var versionIdentifier: MortiseCore.Schema.Version { MortiseCore.Schema.Version(3, 0, 0) }
    static var models: [any MortiseCore.PersistentModel.Type] { [Attribute.self, CodedTree.self, Data.self, Date.self, Größe.self, Index.self, Model.self, PersistentModel.self, Relationship.self, Schema.self, URL.self, Unique.self, Words.self, `enum`.self, `struct`.self] }

    @Model
    final class Attribute {
        @Attribute(.unique) var a: String
        @Relationship(inverse: \`struct`.`in`) var `class`: `struct`?

        init(a: String) {
            self.a = a
        }
    }

    @Model
    final class CodedTree {
        init() {}
    }

    @Model
    final class Data {
        var data: Foundation.Data = Foundation.Data([0x01])
        var date: Foundation.Date
        var url: Foundation.URL?
        var model: Model

        init(date: Foundation.Date, model: Model) {
            self.date = date
            self.model = model
        }
    }

    @Model
    final class Date {
        var tree: MortiseCore.CodedTree = MortiseCore.CodedTree(json: "[]") ?? MortiseCore.CodedTree(.null)

        init() {}
    }

    @Model
    final class Größe {
        init() {}
    }

    @Model
    final class Index: `struct` {
        var `default`: String

        init(default defaultValue: String) {
            self.`default` = defaultValue
            super.init()
        }
    }

    @Model
    final class Model {
        @Relationship(inverse: \Data.model) var `in`: [Data] = []

        init() {}
    }

    @Model
    final class PersistentModel {
        init() {}
    }

    @Model
    final class Relationship {
        init() {}
    }

    @Model
    final class Schema {
        var lists: [`enum`] = []

        init() {}
    }

    @Model
    final class URL {
        var self_: URL?

        init() {}
    }

    @Model
    final class Unique {
        init() {}
    }

    @Model
    final class Words {
        #Unique<Words>([\.`in`, \.`default`])
        #Index<Words>([\.`class`], [\.名前, \.`var`])

        var `as`: Int
        var `await`: Int
        var `break`: Int
        var `case`: Int
        var `class`: Int
        var `default`: Int
        var `defer`: Int
        var `deinit`: Int
        var `else`: Int
        var `false`: Int
        var `for`: Int
        var `func`: Int
        var `if`: Int
        var `import`: Int
        var `in`: Int
        var `inout`: Int
        var `is`: Int
        var `let`: Int
        var `nil`: Int
        var `operator`: Int
        var `private`: Int
        var `protocol`: Int
        var `repeat`: Int
        var `return`: Int
        var `static`: Int
        var `subscript`: Int
        var `super`: Int
        var `switch`: Int
        var `throw`: Int
        var `true`: Int
        var `try`: Int
        var `var`: Int
        var `where`: Int
        var `while`: Int
        var `actor`: Int
        var `any`: Int
        var `async`: Int
        var `consume`: Int
        var `copy`: Int
        var `each`: Int
        var `isolated`: Int
        var `macro`: Int
        var `some`: Int
        var `yield`: Int
        var access: Int
        var withMutation: Int
        var hasChanges: Int
        var isDeleted: Int
        var description: Int
        var debugDescription: Int
        var hash: Int
        var get: Int
        var set: Int
        var willSet: Int
        var left: Int
        var name: Int
        var _name: Int
        var __: Int
        var größe: Int
        var 名前: Int
        var é: Int
        var x2: Int
        var lazy: Int
        var `open`: Int
        var self_: Int
        var dynamicType: Int
        var keyPath: Int
        var models: Int
        var value: Int
        var values: Int
        var other: Int

        init(as asValue: Int, await awaitValue: Int, break breakValue: Int, case caseValue: Int, class classValue: Int, default defaultValue: Int, defer deferValue: Int, deinit deinitValue: Int, else elseValue: Int, false falseValue: Int, for forValue: Int, func funcValue: Int, if ifValue: Int, import importValue: Int, in inValue: Int, `inout` inoutValue: Int, is isValue: Int, `let` letValue: Int, nil nilValue: Int, operator operatorValue: Int, private privateValue: Int, protocol protocolValue: Int, repeat repeatValue: Int, return returnValue: Int, static staticValue: Int, subscript subscriptValue: Int, super superValue: Int, switch switchValue: Int, throw throwValue: Int, true trueValue: Int, try tryValue: Int, `var` varValue: Int, where whereValue: Int, while whileValue: Int, actor actorValue: Int, any anyValue: Int, async asyncValue: Int, consume consumeValue: Int, copy copyValue: Int, each eachValue: Int, isolated isolatedValue: Int, macro macroValue: Int, some someValue: Int, yield yieldValue: Int, access: Int, withMutation: Int, hasChanges: Int, isDeleted: Int, description: Int, debugDescription: Int, hash: Int, get: Int, set: Int, willSet: Int, left: Int, name: Int, _name: Int, __: Int, größe: Int, 名前: Int, é: Int, x2: Int, lazy: Int, open openValue: Int, self_: Int, dynamicType: Int, keyPath: Int, models: Int, value: Int, values: Int, other: Int) {
            self.`as` = asValue
            self.`await` = awaitValue
            self.`break` = breakValue
            self.`case` = caseValue
            self.`class` = classValue
            self.`default` = defaultValue
            self.`defer` = deferValue
            self.`deinit` = deinitValue
            self.`else` = elseValue
            self.`false` = falseValue
            self.`for` = forValue
            self.`func` = funcValue
            self.`if` = ifValue
            self.`import` = importValue
            self.`in` = inValue
            self.`inout` = inoutValue
            self.`is` = isValue
            self.`let` = letValue
            self.`nil` = nilValue
            self.`operator` = operatorValue
            self.`private` = privateValue
            self.`protocol` = protocolValue
            self.`repeat` = repeatValue
            self.`return` = returnValue
            self.`static` = staticValue
            self.`subscript` = subscriptValue
            self.`super` = superValue
            self.`switch` = switchValue
            self.`throw` = throwValue
            self.`true` = trueValue
            self.`try` = tryValue
            self.`var` = varValue
            self.`where` = whereValue
            self.`while` = whileValue
            self.`actor` = actorValue
            self.`any` = anyValue
            self.`async` = asyncValue
            self.`consume` = consumeValue
            self.`copy` = copyValue
            self.`each` = eachValue
            self.`isolated` = isolatedValue
            self.`macro` = macroValue
            self.`some` = someValue
            self.`yield` = yieldValue
            self.access = access
            self.withMutation = withMutation
            self.hasChanges = hasChanges
            self.isDeleted = isDeleted
            self.description = description
            self.debugDescription = debugDescription
            self.hash = hash
            self.get = get
            self.set = set
            self.willSet = willSet
            self.left = left
            self.name = name
            self._name = _name
            self.__ = __
            self.größe = größe
            self.名前 = 名前
            self.é = é
            self.x2 = x2
            self.lazy = lazy
            self.`open` = openValue
            self.self_ = self_
            self.dynamicType = dynamicType
            self.keyPath = keyPath
            self.models = models
            self.value = value
            self.values = values
            self.other = other
        }
    }

    @Model
    final class `enum` {
        init() {}
    }

    @Model
    class `struct` {
        var `in`: Attribute?

        init() {}
    }
}
