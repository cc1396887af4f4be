// Every script of fixtures/rpc without accelerators: over node's own HTTP server alone, and without compiled loops.
import path from 'node:path'
import { expect, it } from 'vitest'
import { readScripts, runScript, SCRIPTS } from '../support/wire/io.ts'
import { startNode } from '../support/wire/node.ts'

it.each(readScripts().map((script) => ({ name: path.relative(SCRIPTS, script.file), script })))(
  'the plain server matches node’s: $name',
  async ({ script }) => {
    await using node = await startNode(script.options, script.transport, true)
    const { mismatch } = await runScript(script, node.send)
    expect(mismatch?.actual).toEqual(mismatch?.expected)
  },
)
