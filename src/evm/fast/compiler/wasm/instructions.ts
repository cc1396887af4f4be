// WebAssembly's numbers that compiled code is made of. @see https://webassembly.github.io/spec/core/binary/

export const TYPE_I32 = 0x7f
export const TYPE_I64 = 0x7e
export const TYPE_V128 = 0x7b
export const TYPE_FUNCTION = 0x60
/** Of blocks that leave nothing on the stack. */
export const TYPE_EMPTY = 0x40

export const UNREACHABLE = 0x00
export const BLOCK = 0x02
export const LOOP = 0x03
export const IF = 0x04
export const ELSE = 0x05
export const END = 0x0b
export const BR = 0x0c
export const BR_IF = 0x0d
export const RETURN = 0x0f
export const CALL = 0x10
export const SELECT = 0x1b
export const LOCAL_GET = 0x20
export const LOCAL_SET = 0x21
export const LOCAL_TEE = 0x22
export const I32_LOAD = 0x28
export const I64_LOAD = 0x29
export const I32_STORE = 0x36
export const I64_STORE = 0x37
/** Stores the lowest byte of an i64. */
export const I64_STORE8 = 0x3c
export const I32_CONST = 0x41
export const I64_CONST = 0x42
export const I32_EQZ = 0x45
export const I32_EQ = 0x46
export const I32_LT_S = 0x48
export const I32_LT_U = 0x49
export const I32_GT_S = 0x4a
export const I32_AND = 0x71
export const I32_ADD = 0x6a
export const I32_SUB = 0x6b
export const I64_EQZ = 0x50
export const I64_EQ = 0x51
export const I64_LT_S = 0x53
export const I64_LT_U = 0x54
export const I64_GT_S = 0x55
export const I64_CLZ = 0x79
export const I64_ADD = 0x7c
export const I64_SUB = 0x7d
export const I64_MUL = 0x7e
export const I64_DIV_U = 0x80
export const I64_REM_U = 0x82
export const I64_AND = 0x83
export const I64_OR = 0x84
export const I64_XOR = 0x85
export const I64_SHL = 0x86
export const I64_SHR_S = 0x87
export const I64_SHR_U = 0x88
export const I32_WRAP_I64 = 0xa7
export const I64_EXTEND_I32_U = 0xad

/** Those of vectors come behind this prefix. */
export const VECTOR = 0xfd
export const V128_LOAD = 0
export const V128_STORE = 11
export const V128_CONST = 12
export const I8X16_SHUFFLE = 13
export const I64X2_SPLAT = 18
export const I64X2_EXTRACT_LANE = 29
export const I64X2_REPLACE_LANE = 30
