// Compiles the parts written in AssemblyScript. Each becomes a module of TypeScript that holds its bytes as text, so that
// sources, tests and bundle import it alike; these modules are made anew when a source changed, and never committed.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import asc from 'assemblyscript/asc'
import { rolldown } from 'rolldown'
import { reduceText } from './reduce.mjs'

const src = path.resolve(import.meta.dirname, '..')

/** What is compiled: from `entry` to `output`, each with the flags it needs. */
const MODULES = [
  {
    entry: 'evm/fast/assembly/exports.ts',
    output: 'evm/fast/interpreter.wasm.ts',
    // places of different widths are the same on the only target
    flags: ['--importMemory', '--exportTable', '--memoryBase', '1024', '--disableWarning', '201'],
  },
  {
    entry: 'evm/precompiles/assembly/blake2f.ts',
    output: 'evm/precompiles/blake2f.wasm.ts',
    flags: ['--initialMemory', '1', '--memoryBase', '4096'],
  },
  {
    entry: 'core/crypto/assembly/keccak.ts',
    output: 'core/crypto/keccak.wasm.ts',
    flags: ['--initialMemory', '2'],
  },
  {
    entry: 'node/bulk/assembly/runminer.ts',
    output: 'node/bulk/runminer.wasm.ts',
    // memory that can't grow is a trap
    flags: ['--initialMemory', '2', '--use', 'abort='],
  },
]

/** -O3s: plain -O3 makes no jump table of a large switch. */
const FLAGS = [
  ...['-O3s', '--noAssert', '--runtime', 'stub'],
  ...['--enable', 'simd', '--enable', 'bulk-memory', '--enable', 'sign-extension'],
]

/** Sources that are generated in memory, by the path that the others import them from. */
const GENERATED = {
  'evm/fast/opcodes.generated.ts': await opcodesText(),
  'evm/fast/assembly/arithmetic/reduce.generated.ts': reduceText(),
}

for (const module of MODULES) await build(module)

/** The numbers of the opcodes as constants: AssemblyScript cannot read the table itself. */
async function opcodesText() {
  const bundle = await rolldown({ input: path.join(src, 'evm/opcodes.ts') })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  const { OP } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
  return Object.entries(OP)
    .map(([name, opcode]) => `export const ${name}: u32 = ${opcode}\n`)
    .join('')
}

/** Reads a source for the compiler; null if there is none. */
function readSource(file, base) {
  const full = path.resolve(base, file)
  const generated = GENERATED[path.relative(src, full)]
  if (generated !== undefined) return generated
  return existsSync(full) ? readFileSync(full, 'utf8') : null
}

async function build({ entry, output, flags }) {
  const target = path.join(src, output)
  const stamp = stampOf(entry, flags)
  if (stampedWith(target) === stamp) return
  const folder = mkdtempSync(path.join(tmpdir(), 'wasm-'))
  try {
    const bytes = await compile(path.join(src, entry), path.join(folder, 'out.wasm'), flags)
    // written aside and moved: a test that runs meanwhile sees the old or the new one
    const made = path.join(folder, 'out.ts')
    writeFileSync(made, moduleText(stamp, bytes))
    writeFileSync(`${target}.new`, readFileSync(made))
    renameSync(`${target}.new`, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compile(entry, output, flags) {
  const args = [entry, '--outFile', output, ...FLAGS, ...flags]
  const { error, stderr } = await asc.main(args, { readFile: readSource })
  if (error) throw new Error(`${entry}: ${error.message}\n${stderr.toString()}`)
  return readFileSync(output)
}

function moduleText(stamp, bytes) {
  return [
    '// WebAssembly made from the sources in assembly/: never edited, never committed.',
    `// sources: ${stamp}`,
    '',
    `/** ${bytes.length} bytes, in base64. */`,
    `export const WASM: string =\n  '${bytes.toString('base64')}'`,
    '',
  ].join('\n')
}

/** A hash of all that the output depends on. */
function stampOf(entry, flags) {
  const hash = createHash('sha256').update(JSON.stringify([entry, FLAGS, flags, GENERATED]))
  const files = readdirSync(src, { recursive: true })
  const sources = files.filter((file) => /\b(assembly\b.*|layout)\.ts$/.test(file)).sort()
  for (const file of [...sources, 'build/wasm.mjs']) hash.update(readFileSync(path.join(src, file)))
  return hash.digest('hex')
}

function stampedWith(file) {
  try {
    return /^\/\/ sources: (\w+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
