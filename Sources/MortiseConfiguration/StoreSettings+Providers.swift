#if Configuration && canImport(Configuration)
public import Configuration
public import Foundation

extension StoreSettings {
    /// - Parameter providers: where values come from; the first that has a key decides.
    public init(providers: [any ConfigProvider]) {
        self.init { key in
            for provider in providers {
                if let found = try Self.text(AbsoluteConfigKey(key), in: provider) { return found }
            }
            return nil
        }
    }

    /// The settings of a process: its arguments, its environment, and the file that `MORTISE_CONFIG` names.
    /// - Throws: `StoreSettingsError` for a file that cannot be read.
    public static func standard(
        arguments: [String] = CommandLine.arguments, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> StoreSettings {
        var providers: [any ConfigProvider] = [
            CommandLineArgumentsProvider(arguments: arguments, secretsSpecifier: .all),
            EnvironmentVariablesProvider(environmentVariables: environment, secretsSpecifier: .all),
        ]
        var names = SettingName.all(arguments: arguments) + SettingName.all(environment: environment)
        if let path = environment["MORTISE_CONFIG"], !path.isEmpty {
            let file = try SettingsFile(path)
            providers.append(file.provider)
            names += file.values.keys.map { SettingName($0.components, in: path) }
        }
        return StoreSettings(providers: providers).checking(names)
    }

    private static func text(_ key: AbsoluteConfigKey, in provider: any ConfigProvider) throws -> String? {
        do {
            guard let found = try provider.value(forKey: key, type: .string).value else { return nil }
            if case .string(let text) = found.content { return text }
        } catch {
            // The error may quote the value.
        }
        throw StoreSettingsError.wrongType(key: key.components.joined(separator: "."), provider: provider.providerName)
    }
}
#elseif Configuration
public import Foundation

extension StoreSettings {
    /// The settings of a process: its environment.
    /// - Throws: `StoreSettingsError` where the environment names a file, which this toolchain is too old for.
    public static func standard(
        arguments: [String] = CommandLine.arguments, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> StoreSettings {
        if let path = environment["MORTISE_CONFIG"], !path.isEmpty {
            throw StoreSettingsError.unreadableFile(path: path, fault: "settings files need Swift 6.2 or later")
        }
        let names = SettingName.all(environment: environment)
        return StoreSettings { key in environment[SettingName.words(key).uppercased()] }.checking(names)
    }
}
#endif
