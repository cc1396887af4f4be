// What is published: the packed files alone, installed in an empty folder, give a working command and import.
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { linksOf } from '../support/pages/readme.ts'
import { boot, ROOT, request, temporaryFolder } from '../support/process/boot.ts'

const run = promisify(execFile)

/**
 * What `npm install ./devchain.tgz` comes to: the package's files, its command, and beside them only what it depends on,
 * which this repository has installed.
 */
async function installFrom(tarball: string, folder: string): Promise<void> {
  const packages = path.join(folder, 'node_modules')
  const own = path.join(packages, 'devchain')
  mkdirSync(path.join(packages, '.bin'), { recursive: true })
  mkdirSync(own)
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
  const { bin, dependencies } = JSON.parse(
    readFileSync(path.join(own, 'package.json'), 'utf8'),
  ) as Manifest
  for (const [name, file] of Object.entries(bin)) {
    chmodSync(path.join(own, file), 0o755)
    symlinkSync(path.join(own, file), path.join(packages, '.bin', name))
  }
  for (const name of Object.keys(dependencies)) {
    mkdirSync(path.dirname(path.join(packages, name)), { recursive: true })
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(packages, name))
  }
  writeFileSync(path.join(folder, 'package.json'), '{"private": true, "type": "module"}')
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

test('the packed package, installed in an empty folder, provides npx devchain and createDevchain', async () => {
  const folder = temporaryFolder(onTestFinished)
  // The files are built already: the suite runs on them.
  const pack = ['pack', ROOT, '--ignore-scripts', '--json', '--pack-destination', folder]
  const { stdout } = await run('npm', pack, { cwd: folder })
  const [{ filename, files }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[] },
  ]
  const folders = new Set(files.map((file) => file.path.split('/')[0]))
  expect([...folders].sort()).toEqual([
    ...['CHANGELOG.md', 'README.md', 'bin', 'dist', 'package.json', 'src', 'test'],
  ])
  const packed = files.map((file) => file.path)
  expect(packed.filter((file) => /^(src|test)\//.test(file))).toSatisfy((pages: string[]) =>
    pages.every((page) => /\/README\.md$|\.(svg|png)$/.test(page)),
  )
  const pages = packed.filter((file) => file.endsWith('.md'))
  for (const { file } of pages.flatMap(linksOf)) expect(packed).toContain(file)

  await installFrom(path.join(folder, filename), folder)

  const command: [string, ...string[]] = ['npx', '--no-install', 'devchain']
  const ready = path.join(folder, 'ready.json')
  const options = ['--chain-id', '5', '--ready-file', ready]
  const { url, ended } = await boot(options, { cwd: folder, command })
  expect(await request(url, 'eth_chainId')).toBe('0x5')
  // npx does not hand signals on to what it runs.
  process.kill(JSON.parse(readFileSync(ready, 'utf8')).pid, 'SIGINT')
  expect(await ended).toBe(0)

  const script = `
    import { createDevchain } from 'devchain'
    const devchain = await createDevchain({ chainId: 6 })
    console.log(await devchain.request({ method: 'eth_chainId' }))`
  const { stdout: printed } = await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
  })
  expect(printed).toBe('0x6\n')
})
