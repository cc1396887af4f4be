// The built program, which is one bundle with parts that load late: every method answers from it.
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Booted, boot, COMMAND, ROOT, request, temporaryFolder } from '../support/boot.ts'
import { eventually } from '../support/eventually.ts'

interface Described {
  readonly name: string
  readonly examples: readonly { readonly params: readonly { readonly value: unknown }[] }[]
}

/** Code of an error that is a bug here. */
const INTERNAL_ERROR = -32603

test('answers every method’s example, and none with a bug', async () => {
  const { url, stop } = await boot()
  onTestFinished(async () => {
    await stop()
  })
  const { methods } = (await request(url, 'rpc.discover')) as { methods: Described[] }
  expect(methods.length).toBeGreaterThan(200)
  const failures: unknown[] = []
  for (const { name, examples } of methods) {
    const params = examples[0]!.params.map(({ value }) => value)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params })
    const response = await fetch(url, { method: 'POST', body })
    const { error } = (await response.json()) as { error?: { code: number } }
    if (error?.code === INTERNAL_ERROR) failures.push(name)
  }
  expect(failures).toEqual([])
}, 120_000)

test('mines thousands of blocks where node allows no threads', async () => {
  const permission = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )!
  const rights = [permission, '--allow-fs-read=*', '--allow-fs-write=*']
  const { url, stop } = await boot([], { command: [process.execPath, ...rights, COMMAND] })
  onTestFinished(async () => {
    await stop()
  })
  expect(await request(url, 'evm_mine', { blocks: 20_000 })).toBe('0x0')
  expect(await request(url, 'eth_blockNumber')).toBe('0x4e20')
})

test('finds the bytecode of an earlier start usable, that of late parts too', async () => {
  const folder = temporaryFolder(onTestFinished)
  for (const part of ['bin', 'dist', 'package.json']) {
    const isKept = (file: string): boolean => file.endsWith('.cache')
    cpSync(path.join(ROOT, part), path.join(folder, part), {
      recursive: true,
      filter: (file) => !isKept(file),
    })
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const bundle = path.join(folder, 'dist/bundle')
  const command = [process.execPath, path.join(folder, path.relative(ROOT, COMMAND))] as const
  const start = async (): Promise<Booted> => {
    const devchain = await boot([], { command: [...command] })
    await request(devchain.url, 'eth_call', { to: `0x${'00'.repeat(20)}` })
    return devchain
  }
  const kept = (): string[] => readdirSync(bundle).filter((name) => name.endsWith('.cache'))
  // the last byte tells that it was made after a while
  const isWhole = (name: string): boolean => readFileSync(path.join(bundle, name)).at(-1) === 1
  const made = (): number[] => kept().map((name) => statSync(path.join(bundle, name)).ino)

  const first = await start()
  await eventually(async () => {
    await request(first.url, 'eth_chainId')
    return kept().some((name) => name.startsWith('core') && isWhole(name))
  })
  await first.stop()
  await (await start()).stop()
  const before = made()
  expect(kept().filter((name) => name.endsWith('.late.cache')).length).toBeGreaterThan(2)
  // what cannot be used is written anew, at the end of the process at the latest
  await (await start()).stop()
  expect(made()).toEqual(before)
})
