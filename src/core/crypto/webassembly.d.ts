// The part of WebAssembly's JavaScript interface in use: TypeScript declares it for browsers only.
declare namespace WebAssembly {
  type ExportValue = Memory | Table | Global | ((...values: never[]) => unknown)

  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number })
    readonly buffer: ArrayBuffer
    /** In pages of 64 KiB; returns the previous number. Replaces the buffer. */
    grow(pages: number): number
  }

  class Table {
    private constructor()
    readonly length: number
    set(index: number, value: unknown): void
    grow(count: number): number
  }

  class Global {
    private constructor()
    value: unknown
  }

  class Module {
    constructor(bytes: Uint8Array | ArrayBuffer)
  }

  class Instance {
    constructor(
      module: Module,
      imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    )
    readonly exports: Readonly<Record<string, ExportValue>>
  }
}
