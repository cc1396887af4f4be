// `--setup`: a shell command that prepares the default chain before chains at paths begin.
import { spawn } from 'node:child_process'

/** The command could not be run, or did not succeed. */
export class SetupFailure extends Error {}

/**
 * Runs a command with the variables of `devchain exec`. What it prints goes to standard error.
 * @throws {SetupFailure} unless it exits with 0
 */
export async function runSetup(command: string, url: string): Promise<void> {
  const env = { ...process.env, DEVCHAIN_URL: url, ETH_RPC_URL: url }
  const child = spawn(command, { shell: true, stdio: ['ignore', 2, 2], env })
  const end = await new Promise<string | undefined>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code, signal) => {
      resolve(code === 0 ? undefined : signal === null ? `exit code ${code}` : `ended by ${signal}`)
    })
  })
  if (end !== undefined) throw new SetupFailure(`--setup failed: ${command}: ${end}`)
}
