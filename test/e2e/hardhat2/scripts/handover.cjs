// Has Hardhat's own watcher, which its node uses, hand a compilation over to the network, and then ends.
const { mkdirSync } = require('node:fs')
const path = require('node:path')
const { config, network, run } = require('hardhat')
const { watchCompilerOutput } = require('hardhat/builtin-tasks/utils/watch')

async function main() {
  await run('clean')
  // it watches a folder that is there
  mkdirSync(path.join(config.paths.artifacts, 'build-info'), { recursive: true })
  let watcher
  const handedOver = new Promise((resolve, reject) => {
    const request = async (args) => {
      const answer = network.provider.request(args)
      answer.then(resolve, reject)
      return await answer
    }
    watcher = watchCompilerOutput({ request }, config.paths)
  })
  const watching = await watcher
  await new Promise((resolve) => watching.once('ready', resolve))
  await run('compile', { quiet: true })
  console.log(`handed over: ${await handedOver}`)
  await watching.close()
}

// nothing that goes wrong keeps the test waiting
setTimeout(() => process.exit(2), 60_000).unref()

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
