// hardhat: mining, the pool, and headers of the next blocks.
import { DevchainError } from '../../core/errors.ts'
import { fee } from '../../core/format.ts'
import { hashAfter } from '../../node/ledger/chainstate.ts'
import { isInstant } from '../../node/ledger/miningmode.ts'
import { dropTransaction } from '../../node/mining/drop.ts'
import { nextRules } from '../../node/mining/environment.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, boolean, hash, quantity } from '../../rpc/primitives.ts'
import { change, command } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { mineBlocks } from '../common/mine.ts'
import { requireFork } from '../common/requirefork.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { STRANGER } from '../wire/examples.ts'

export const hardhatMiningMethods: Methods = [
  command('hardhat_mine', {
    summary: 'Mines 1 block or more; timestamps after the first are {interval} seconds apart.',
    params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
    example: { params: ['0x3e8', '0x3c'], result: null },
    handle: ({ chain, caller }, blocks, interval) =>
      mineBlocks(chain, { blocks, interval, isFirstSpaced: false }, caller),
  }),
  method('hardhat_getAutomine', {
    aliases: ['anvil_getAutomine'],
    summary: 'Returns whether instant mining is on.',
    result: boolean,
    example: { result: true },
    handle: ({ chain }) => isInstant(chain.state.mining),
  }),
  command('hardhat_setCoinbase', {
    aliases: ['anvil_setCoinbase'],
    summary: 'Sets the address that gets the fees of later blocks.',
    params: [param('account', address)],
    example: { params: [STRANGER], result: null },
    describe: ([account]) => `coinbase ${account}`,
    handle: ({ chain }, coinbase) => change(chain, { coinbase }),
  }),
  command('hardhat_setNextBlockBaseFeePerGas', {
    aliases: ['anvil_setNextBlockBaseFeePerGas'],
    summary: 'Sets the base fee of the next block, in wei; later ones follow from it.',
    params: [param('baseFee', quantity)],
    example: { params: ['0x3b9aca00'], result: null },
    describe: ([baseFee]) => `next base fee ${fee(baseFee)}`,
    handle: ({ chain, profile }, nextBaseFee) => {
      if (!profile.ignoresForks) requireFork(chain, 'london', 'a base fee')
      return change(chain, { nextBaseFee })
    },
  }),
  command('hardhat_setPrevRandao', {
    aliases: ['anvil_setPrevRandao', 'anvil_setNextBlockPrevRandao'],
    summary: 'Sets the PREVRANDAO of the next block.',
    params: [param('prevRandao', hash)],
    example: { params: [`0x${'11'.repeat(32)}`], result: null },
    describe: ([prevRandao]) => `next PREVRANDAO ${prevRandao}`,
    handle: ({ chain, profile }, nextPrevRandao) => {
      if (!profile.ignoresForks) requireFork(chain, 'paris', 'PREVRANDAO')
      const { setRandomnessGoesOn } = chain.state.config.behaviour
      const laterPrevRandao = setRandomnessGoesOn ? hashAfter(nextPrevRandao) : undefined
      return change(chain, { nextPrevRandao, laterPrevRandao })
    },
  }),
  command('hardhat_setMinGasPrice', {
    aliases: ['anvil_setMinGasPrice'],
    summary: 'Sets the lowest gas price, in wei, that the pool accepts.',
    params: [param('price', quantity)],
    example: { params: ['0x1'], result: null },
    describe: ([price]) => `least gas price ${fee(price)}`,
    handle: ({ chain, profile }, minGasPrice) => {
      const { hardfork } = nextRules(chain.state, chain.environment.now())
      if (!profile.hasLeastPriceWithBaseFee && isAtLeast(hardfork, 'london')) {
        const message = 'under EIP-1559 the base fee is the least price of a block'
        throw new DevchainError('METHOD_NOT_SUPPORTED', message)
      }
      return change(chain, { minGasPrice })
    },
  }),
  method('hardhat_dropTransaction', {
    summary: 'Removes a transaction from the pool; false if it is not there.',
    params: [transactionHash],
    result: boolean,
    example: { result: false },
    effects: 'chain',
    describe: ([wanted]) => `dropped ${wanted}`,
    handle: ({ chain }, wanted) => chain.update((state) => dropTransaction(state, wanted)),
  }),
]
