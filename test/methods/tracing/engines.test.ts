// What is told of runs is the same whichever engine ran: every script that traces, on the usual engine and on the reference,
// to the letter. (test/server/plain.test.ts runs them on the interpreter alone.)
import path from 'node:path'
import { expect, it } from 'vitest'
import { exchangesOf, readScripts, runScript, SCRIPTS, type Script } from '../../support/wire/io.ts'
import { startNode } from '../../support/wire/node.ts'

const TRACING =
  /^((debug|trace|ots)_|(anvil_mine_detailed|devchain_traceTransaction)$|eth_(callBundle|callMany|createAccessList|simulateV1)$)/

function methodsOf(script: Script): readonly string[] {
  return exchangesOf(script).flatMap(({ request }) => {
    const asked = JSON.parse(request) as unknown
    return [asked].flat().map((each) => String((each as { readonly method?: unknown }).method))
  })
}

/** The messages that answer a script's requests. */
async function repliesOn(script: Script, evm: string): Promise<readonly string[]> {
  await using node = await startNode({ ...script.options, evm }, script.transport)
  const { exchanges } = await runScript(script, node.send)
  return exchanges.flatMap(({ replies }) => replies)
}

const scripts = readScripts().filter((script) =>
  methodsOf(script).some((name) => TRACING.test(name)),
)

it.each(scripts.map((script) => ({ name: path.relative(SCRIPTS, script.file), script })))(
  '$name',
  async ({ script }) => {
    const replies = await repliesOn(script, 'auto')
    expect(replies.length).toBeGreaterThan(0)
    expect(await repliesOn(script, 'reference')).toEqual(replies)
  },
)
