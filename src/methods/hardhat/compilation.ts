// hardhat: what was compiled, handed over by Hardhat's plugins.

import { param } from '../../rpc/method.ts'
import { text } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { trueCommand } from '../common/command.ts'
import type { Methods } from '../common/context.ts'

const compilerJson: Decoder<object> = {
  name: 'JSON of a compiler',
  json: { type: 'object' },
  decode: (value, path) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    throw invalid(path, 'standard JSON of the compiler', value)
  },
}

export const hardhatCompilationMethods: Methods = [
  trueCommand({
    name: 'hardhat_addCompilationResult',
    summary: 'Takes names from a compilation, as Hardhat’s own node does when its user compiles.',
    params: [
      param('solcVersion', text),
      param('compilerInput', compilerJson),
      param('compilerOutput', compilerJson),
    ],
    example: { params: ['0.8.37', { sources: {} }, { contracts: {} }], result: true },
    effects: 'node',
    handle: async ({ project }, solcVersion, input, output) => {
      const opened = await project.open()
      opened.addValue({ input, output }, `compilation by solc ${solcVersion}`)
    },
  }),
]
