import SwiftSyntax
import SwiftSyntaxBuilder

/// The members `@Model` adds to a class.
struct ModelMembers {
    let model: ModelDeclaration
    /// The superclass, if it is a model.
    let superclass: TypeSyntax?

    var declarations: [DeclSyntax] {
        var members = state
        if let superclass {
            members += subclassInitializers(of: superclass)
        } else {
            members += rootInitializers
            members.append(persistentBackingData)
        }
        if model.initializers.isEmpty, superclass == nil, model.isDefaultInitializable {
            members += ConditionalMembers.emptyInitializer(for: model)
        } else if model.lacksInitializer, superclass == nil {
            // So that nothing else is said of it, such as where an extension calls it.
            members.append("init() {\n    Swift.fatalError()\n}")
        }
        members += goingDeinitializer
        members += SchemaMetadata(model: model, superclass: superclass).declarations
        members += observation
        return members
    }

    private var access: AccessLevel { model.access }
    private var required: String { model.isFinal ? "" : "required " }

    /// One assignment a line for the peers that keep nothing; they would otherwise be uninitialized.
    private var storagePlaceholders: String {
        model.properties.filter { !model.refusesConstant($0) }.map {
            "self.\(model.storageName(of: $0)) = MortiseCore.NoStorage()\n"
        }.joined()
    }

    private var state: [DeclSyntax] {
        guard let superclass else { return rootState }
        return [
            """
            \(raw: UnsafeStorage.attribute)@exclusivity(unchecked) nonisolated(unsafe) private var _ownState: MortiseCore.InitialValues = MortiseCore.InitialValues(of: \(raw: model.name).self)
            """,
            """
            private static var _firstSlot: Swift.Int {
                \(superclass.trimmed)._modelSlotCount
            }
            """,
            """
            private func _adoptOwnValues() {
                if _ownState.isPending {
                    _adoptInitialValues()
                }
            }
            """,
            """
            \(raw: access.overridable)override func _adoptInitialValues() {
                super._adoptInitialValues()
                _modelState.adopt(&_ownState)
            }
            """,
        ]
    }

    private var rootState: [DeclSyntax] {
        var members: [DeclSyntax]
        if model.stateNames.mayHaveSuperclass {
            members = [
                """
                \(raw: UnsafeStorage.attribute)@exclusivity(unchecked) nonisolated(unsafe) private var _ownState: MortiseCore.ModelState = MortiseCore.ModelState(of: \(raw: model.name).self)
                """,
                """
                nonisolated \(raw: access.member)var _modelState: MortiseCore.ModelState {
                    _read {
                        yield _ownState
                    }
                    _modify {
                        yield &_ownState
                    }
                }
                """,
                """
                private static var _firstSlot: Swift.Int {
                    0
                }
                """,
                """
                private func _adoptOwnValues() {
                }
                """,
            ]
        } else {
            members = [
                """
                \(raw: UnsafeStorage.attribute)@exclusivity(unchecked) nonisolated(unsafe) \(raw: access.member)var _modelState: MortiseCore.ModelState = MortiseCore.ModelState(of: \(raw: model.name).self)
                """
            ]
        }
        if !model.isFinal {
            members.append(
                """
                \(raw: access.overridable)func _adoptInitialValues() {
                }
                """)
        }
        return members
    }

    private var rootInitializers: [DeclSyntax] {
        let state = model.stateNames.initialState
        let superCall = model.callsSuperInitializer ? "\n\(Self.plainSuperCall)" : ""
        let signature = "init(backingData: any MortiseCore.BackingData<\(model.name)>)"
        // The compiler takes time by the square of the properties to check that an initializer sets all. A superclass without
        // `init()` is one mistake, too.
        let fromBackingData: DeclSyntax =
            model.isFinal
            ? """
            \(raw: access.member)convenience \(raw: signature) {
                self.init(_modelState: \(raw: model.name)._state(from: backingData))
            }
            """
            : """
            \(raw: access.member)\(raw: required)\(raw: signature) {
                \(raw: storagePlaceholders)self.\(raw: state) = \(raw: model.name)._state(from: backingData)\(raw: superCall)
            }
            """
        let initializers: [DeclSyntax] = [
            """
            \(raw: access.member)\(raw: required)init(_modelState: consuming MortiseCore.ModelState) {
                \(raw: storagePlaceholders)self.\(raw: state) = _modelState\(raw: superCall)
            }
            """, fromBackingData,
        ]
        // One written by hand is refused. It takes the place of ours, so that nothing else is said of it.
        return model.backingDataInitializer(superclass: nil) == nil ? initializers : Array(initializers.dropLast())
    }

    /// The compiler shows the comment with its error.
    private static let plainSuperCall = """
        // '@Model' needs 'init()' in a superclass that is not a model itself: add one there, or mark it '@Model'.
        super.init()
        """

    /// What the superclass calls in its `deinit` may set properties here, as in the class's own.
    private var goingDeinitializer: [DeclSyntax] {
        guard superclass == nil, model.firstInheritedType != nil, model.overridesMethods, !model.hasDeinitializer else {
            return []
        }
        return [
            """
            deinit {
                self._modelState._beginDeinit()
            }
            """
        ]
    }

    private func subclassInitializers(of superclass: TypeSyntax) -> [DeclSyntax] {
        let initializers: [DeclSyntax] = [
            """
            \(raw: access.member)required init(_modelState: consuming MortiseCore.ModelState) {
                \(raw: storagePlaceholders)MortiseCore.ModelState._continueMaking(\(superclass.trimmed).self)
                super.init(_modelState: _modelState)
            }
            """,
            """
            \(raw: access.member)required init(backingData: any MortiseCore.BackingData<\(raw: model.name).Root>) {
                \(raw: storagePlaceholders)super.init(backingData: backingData)
                self._ownState = MortiseCore.InitialValues()
            }
            """,
        ]
        return model.backingDataInitializer(superclass: superclass) == nil
            ? initializers : Array(initializers.dropLast())
    }

    private var persistentBackingData: DeclSyntax {
        """
        \(raw: access.member)var persistentBackingData: any MortiseCore.BackingData<\(raw: model.name)> {
            get {
                _backingData()
            }
            set {
                _adopt(backingData: newValue)
            }
        }
        """
    }

    // The parameters have names that no model is called by: one of that name would be hidden by them.
    private var observation: [DeclSyntax] {
        [
            """
            nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<\(raw: model.name), _MortiseMember>) {
                _modelState.noteAccess(to: keyPath, of: self)
            }
            """,
            """
            nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                keyPath: Swift.KeyPath<\(raw: model.name), _MortiseMember>, _ mutation: () throws -> _MortiseResult
            ) rethrows -> _MortiseResult {
                try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
            }
            """,
        ]
    }
}

/// The attribute of stored properties that are marked `unsafe`, in a module that checks memory safety strictly: the models
/// of a context are used on its actor or thread, which the compiler cannot see. Swift 6.2 has it first; the plugin is built
/// with the compiler that reads the expansion.
enum UnsafeStorage {
    #if compiler(>=6.2)
    static let attribute = "@safe "
    #else
    static let attribute = ""
    #endif
}

extension ModelDeclaration {
    /// Whether the body has no initializer. One inside `#if` may be all that is needed; the compiler knows.
    var hasNoInitializer: Bool {
        initializers.isEmpty
            && !syntax.memberBlock.members.contains { $0.decl.as(IfConfigDeclSyntax.self)?.mayHaveInitializer == true }
    }

    /// Whether the class needs an initializer, which the macro does not write.
    var lacksInitializer: Bool { hasNoInitializer && !isDefaultInitializable }

    /// Whether every stored property has a value without an initializer giving it one.
    var isDefaultInitializable: Bool {
        variables.allSatisfy { variable in
            guard variable.isStoredInstanceProperty, !variable.modifiers.contains(.lazy) else { return true }
            return variable.haveInitialValues
        }
    }
}

extension VariableDeclSyntax {
    /// Whether an initializer may leave the bindings out.
    var haveInitialValues: Bool { bindings.allSatisfy(hasInitialValue) }

    /// Whether an initializer may leave a binding out: it has a value, or is a variable that is nil by itself.
    func hasInitialValue(_ binding: PatternBindingSyntax) -> Bool {
        binding.initializer != nil
            || (bindingSpecifier.tokenKind == .keyword(.var) && binding.typeAnnotation?.type.isNilByDefault == true)
    }
}
