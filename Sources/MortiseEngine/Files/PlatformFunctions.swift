// The functions of CMortisePlatform, whose headers say what they do.
//
// An import of it would be one of every client: a compiler that is not called by SwiftPM, such as that of a tool which reads
// the interface, would find this module only with the path of its map. What is passed here, whole numbers and pointers, goes
// the same way in C and in Swift.

@_silgen_name("mortise_crc32c_prepare")
func mortise_crc32c_prepare() -> CInt

@_silgen_name("mortise_crc32c")
func mortise_crc32c(_ state: UInt32, _ bytes: UnsafeRawPointer?, _ count: Int) -> UInt32

@_silgen_name("mortise_prefetch")
func mortise_prefetch(_ start: UnsafeRawPointer?, _ count: Int)

@_silgen_name("mortise_start_writing")
func mortise_start_writing(_ descriptor: CInt, _ start: Int64, _ count: Int64) -> CInt

// `extent` is the header's struct: the device, the number and the length, each of eight bytes.
@_silgen_name("mortise_file_extent")
func mortise_file_extent(
    _ descriptor: CInt, _ path: UnsafePointer<CChar>?, _ followsLinks: CInt, _ extent: UnsafeMutableRawPointer
) -> CInt
