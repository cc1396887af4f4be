// The spinner of a slow start, and the log, on a pseudo-terminal.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { COMMAND, startProcess } from '../support/process/boot.ts'

const SCRIPT = '/usr/bin/script'

/** What a start writes on a terminal of that width while it waits for a network that does not answer. */
async function spun(columns: number, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const start = `"${process.execPath}" "${COMMAND}" --port 0 --fork http://127.0.0.1:1 --fork-max-wait 1`
  const { ended, stdout } = startProcess(
    ['-qec', `stty cols ${columns}; env -u CI timeout -s KILL 20 ${start}`, '/dev/null'],
    {
      command: [SCRIPT],
      env: { TERM: 'xterm', ...env },
    },
  )
  await ended
  return stdout()
}

// other systems' script takes other arguments
test.skipIf(process.platform !== 'linux' || !existsSync(SCRIPT))(
  'the spinner is left out on a terminal without a width, and has no color under NO_COLOR',
  async () => {
    const cyan = '\u001b[36m'
    const [narrow, wide, plain] = await Promise.all([
      spun(0),
      spun(80),
      spun(80, { NO_COLOR: '1' }),
    ])
    expect(narrow).toContain('127.0.0.1:1')
    expect(narrow).not.toContain('starting the chain')
    expect(wide).toContain('starting the chain')
    expect(wide).toContain(cyan)
    expect(plain).toContain('starting the chain')
    expect(plain).not.toContain(cyan)
  },
  30_000,
)

test.skipIf(process.platform !== 'linux' || !existsSync(SCRIPT))(
  'the log moves no cursor and has no color on a dumb terminal',
  async () => {
    const call = `"${process.execPath}" "${COMMAND}" rpc eth_chainId`
    const start = `"${process.execPath}" "${COMMAND}" --port 0 --setup '${call}; sleep 0.2; ${call}; kill -INT $PPID'`
    const { ended, stdout } = startProcess(['-qec', start, '/dev/null'], {
      command: [SCRIPT],
      env: { TERM: 'dumb' },
    })
    await ended
    expect(stdout()).toContain('eth_chainId')
    expect(stdout()).not.toContain('\u001b')
  },
  30_000,
)
