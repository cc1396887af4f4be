// Runs a command line in this process, as bin/devchain.js does in its own: for help and refusals, of which many are tested.
import { vi } from 'vitest'
import { main as command } from '../../../src/cli/main.ts'
import { main as shell } from '../../../src/cli/shell.ts'

/** What a command wrote, and its exit code. */
export interface RunHere {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** @param args of a command that ends by itself, and starts no chain */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunHere> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const written = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text, ...rest) => {
      written[name] += text
      const done = rest.find((each) => typeof each === 'function')
      done?.()
      return true
    }),
  )
  try {
    const [first = '-'] = args
    const main = first.startsWith('-') ? command : shell
    return { code: await main(args), ...written }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
