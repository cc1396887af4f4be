// eth: the chain as a whole: its id, height and miner.
import { addresses } from '../../node/accounts/accounts.ts'
import { isMining } from '../../node/ledger/miningmode.ts'
import { address, boolean, hash, list, text } from '../../rpc/primitives.ts'
import { unsupported } from '../common/command.ts'
import { headBlock, type Methods, method } from '../common/context.ts'
import { PROTOCOL_VERSION } from '../common/version.ts'
import { field, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'
import { syncShape } from '../wire/peers/encodepeer.ts'

export const chainMethods: Methods = [
  method('eth_chainId', {
    summary: 'Returns the chain id that transactions are signed for (EIP-155).',
    result: quantityResult,
    example: { result: '0x21' },
    describe: (_values, chainId) => String(Number(chainId)),
    handle: ({ chain }) => chain.state.config.chainId,
  }),
  method('eth_protocolVersion', {
    summary: 'Returns the version of the wire protocol.',
    result: text,
    example: { result: PROTOCOL_VERSION },
    handle: () => PROTOCOL_VERSION,
  }),
  method('eth_syncing', {
    summary: 'Returns the progress of a sync from peers; false if none runs.',
    result: syncShape,
    example: { result: false },
    handle: ({ peers }) => peers.now?.syncing(),
  }),
  method('eth_coinbase', {
    summary: 'Returns the address that gets the fees of mined blocks.',
    result: address,
    example: { result: `0x${'00'.repeat(20)}` },
    handle: ({ chain }) => chain.state.settings.coinbase,
  }),
  method('eth_mining', {
    summary: 'Returns whether instant or interval mining is on.',
    result: boolean,
    example: { result: true },
    handle: ({ chain, profile }) => profile.reportsMining && isMining(chain.state.mining),
  }),
  method('eth_bridgeState', {
    summary: 'Returns the height of the best parent block of merged mining; 0 before the first.',
    // there is no bridge, so no transaction waits for signatures
    result: shape<number>('bridge state', {
      extTxsWaitingForSignatures: field(list(hash), () => []),
      parentBlockchainBestChainHeight: field(plainInteger, (height) => height),
    }),
    example: { result: { extTxsWaitingForSignatures: [], parentBlockchainBestChainHeight: 0 } },
    handle: ({ chain }) => chain.state.parentChainHeight,
  }),
  method('eth_accounts', {
    aliases: ['eth_requestAccounts'],
    summary: 'Returns the addresses that this node has keys for, locked ones included.',
    result: list(address, 'account'),
    handle: ({ chain }) => addresses(chain.state.accounts),
  }),
  method('eth_blockNumber', {
    summary: 'Returns the number of the newest block.',
    result: quantityResult,
    example: { result: '0x0' },
    handle: (context) => headBlock(context).header.number,
  }),
  // the specification lists them as not supported
  ...unsupported(
    'compilers are deliberately not included in the node',
    'eth_getCompilers eth_compileLLL eth_compileSolidity eth_compileSerpent',
  ),
]
