/// What a file's extension says it is.
enum FileKind: String, Codable, CaseIterable, Sendable {
    case archive, audio, data, document, font, image, library, source, video, other

    /// The kind of files with the extension `fileExtension` (lower case, without the dot); `other` for an unknown one.
    init(fileExtension: String) {
        self = Self.kinds[fileExtension] ?? .other
    }

    /// The lower-case extension of a file name, or an empty string: a leading dot hides a file and starts no extension.
    static func fileExtension(of name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }

    private static let kinds: [String: FileKind] = {
        var kinds: [String: FileKind] = [:]
        for (kind, extensions) in extensions {
            for fileExtension in extensions.split(separator: " ") {
                kinds[String(fileExtension)] = kind
            }
        }
        return kinds
    }()

    private static let extensions: [FileKind: String] = [
        .archive: "7z bz2 cpio deb dmg gz iso jar lz4 rar rpm tar tgz txz whl xz zip zst",
        .audio: "aac aif aiff flac m4a mid mp3 oga ogg opus wav wma",
        .data: "bin csv dat db ics ini json jsonl log parquet plist properties sqlite toml tsv xml yaml yml",
        .document: "adoc doc docx epub htm html key md odp ods odt pages pdf ppt pptx ps rst rtf tex txt xls xlsx",
        .font: "otf ttc ttf woff woff2",
        .image: "avif bmp gif heic icns ico jpeg jpg png psd raw svg tif tiff webp",
        .library: "a class dll dylib exe lib o pyc so swiftmodule wasm",
        .source: "asm bash bat c cc cmake cpp cs css cxx dart el erl ex go gradle groovy h hpp hs java js jsx kt lua m "
            + "mm pas php pl proto ps1 py r rb rs s scala sh sql swift tcl ts tsx vim vue zig",
        .video: "3gp avi flv m4v mkv mov mp4 mpeg mpg ogv webm wmv",
    ]
}
