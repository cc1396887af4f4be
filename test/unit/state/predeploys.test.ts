// The contracts of genesis: proven to be the real ones, and run.
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createEVM, type EVM } from '@ethereumjs/evm'
import { SimpleStateManager } from '@ethereumjs/statemanager'
import { Account, Address as EthereumjsAddress } from '@ethereumjs/util'
import { describe, expect, it } from 'vitest'
import { createdAddress, keccak256, recoverAddress } from '../../../src/core/crypto/crypto.ts'
import {
  type Address,
  addressFromBytes,
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  hexFromBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import { MULTICALL3 } from '../../../src/state/multicall3.ts'
import {
  BEACON_ROOTS,
  CONSOLIDATION_REQUESTS,
  CREATE2_DEPLOYER,
  HISTORY_STORAGE,
  type Predeploy,
  systemContracts,
  WITHDRAWAL_REQUESTS,
} from '../../../src/state/predeploys.ts'

const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe' as Address
const USER = '0x00000000000000000000000000000000000a11ce' as Address

/** A keyless deployment: a transaction whose signature gives its sender, and so the contract's address. */
interface Deployment {
  readonly name: string
  readonly contract: Predeploy
  readonly gasPrice: bigint
  readonly gas: bigint
  readonly initCode: string
  /** 0 when left out. */
  readonly yParity?: 0 | 1
  readonly r: bigint
  readonly s: bigint
}

const system = { gasPrice: 0xe8d4a51000n, gas: 0x3d090n, r: 0x539n }
const queueInit = `7f${'ff'.repeat(32)}5f556101`
const DEPLOYMENTS: readonly Deployment[] = [
  {
    ...system,
    name: 'EIP-4788',
    contract: BEACON_ROOTS,
    initCode: '60618060095f395ff3',
    s: 0x1b9b6eb1f0n,
  },
  {
    ...system,
    name: 'EIP-2935',
    contract: HISTORY_STORAGE,
    initCode: '60538060095f395ff3',
    s: 0xaa12693182426612186309f02cfe8a80a0000n,
  },
  {
    ...system,
    name: 'EIP-7002',
    contract: WITHDRAWAL_REQUESTS,
    initCode: `${queueInit}f880602d5f395ff3`,
    s: 0x5feeb084551e4e03a3581e269bc2ea2f8d0008n,
  },
  {
    ...system,
    name: 'EIP-7251',
    contract: CONSOLIDATION_REQUESTS,
    initCode: `${queueInit}9e80602d5f395ff3`,
    s: 0xc0730f92dc275b663d377a7cbb141b6600052n,
  },
  {
    name: 'the create2 deployer',
    contract: CREATE2_DEPLOYER,
    gasPrice: 100_000_000_000n,
    gas: 100_000n,
    initCode: '604580600e600039806000f350fe',
    r: BigInt(`0x${'22'.repeat(32)}`),
    s: BigInt(`0x${'22'.repeat(32)}`),
  },
  {
    name: 'Multicall3',
    contract: MULTICALL3,
    gasPrice: 100_000_000_000n,
    gas: 1_000_000n,
    initCode: '608060405234801561001057600080fd5b50610ee0806100206000396000f3fe',
    yParity: 1,
    r: 0xedce47092c0f398cebf3ffc267f05c8e7076e3b89445e0fe50f6332273d4569bn,
    s: 0x1b0b9d000e19b24c5869b0fc3b22b0d6fa47cd63316875cbbd577d76e6fde086n,
  },
]

/** Where the deployment puts its contract: any other byte of code would give another sender, or none. */
function deploymentAddress({
  contract,
  gasPrice,
  gas,
  initCode,
  yParity = 0,
  r,
  s,
}: Deployment): Address {
  const data = concatBytes(bytesFromHex(`0x${initCode}`), contract.code)
  const fields = [0n, gasPrice, gas].map(bytesFromBigint)
  const digest = keccak256(encodeRlp([...fields, EMPTY_BYTES, EMPTY_BYTES, data]))
  const sender = recoverAddress(digest, { r, s, yParity })
  return createdAddress(encodeRlp([bytesFromHex(sender), EMPTY_BYTES]))
}

/** An engine whose state has the contract, and a rich user. */
async function engineWith(contract: Predeploy): Promise<EVM> {
  const stateManager = new SimpleStateManager()
  const at = new EthereumjsAddress(bytesFromHex(contract.address))
  await stateManager.putAccount(at, new Account(1n, 0n))
  await stateManager.putCode(at, contract.code)
  const user = new EthereumjsAddress(bytesFromHex(USER))
  await stateManager.putAccount(user, new Account(0n, 10n ** 18n))
  const common = new Common({ chain: Mainnet, hardfork: Hardfork.Prague })
  return createEVM({ common, stateManager })
}

async function call(
  evm: EVM,
  message: { from: Address; to: Address; data?: Uint8Array; value?: bigint; block?: object },
): Promise<string> {
  const header = { number: 1000n, timestamp: 5000n, gasLimit: 30_000_000n, ...message.block }
  const { execResult } = await evm.runCall({
    caller: new EthereumjsAddress(bytesFromHex(message.from)),
    to: new EthereumjsAddress(bytesFromHex(message.to)),
    data: message.data ?? EMPTY_BYTES,
    value: message.value ?? 0n,
    gasLimit: 10_000_000n,
    block: { header } as never,
  })
  if (execResult.exceptionError !== undefined) throw new Error(execResult.exceptionError.error)
  return hexFromBytes(execResult.returnValue)
}

describe('the contracts of genesis', () => {
  it.each(DEPLOYMENTS)('$name has the code whose deployment gives its address', (deployment) => {
    expect(deploymentAddress(deployment)).toBe(deployment.contract.address)
  })

  it('are those of the hardfork', () => {
    expect(systemContracts('shanghai')).toEqual([])
    expect(systemContracts('cancun')).toEqual([BEACON_ROOTS])
    expect(systemContracts('prague')).toHaveLength(4)
    expect(systemContracts('osaka')).toHaveLength(4)
  })
})

describe('the predeployed contract', () => {
  it('BEACON_ROOTS returns the beacon root of a timestamp (EIP-4788)', async () => {
    const evm = await engineWith(BEACON_ROOTS)
    const root = keccak256(Uint8Array.of(1))
    const to = BEACON_ROOTS.address
    await call(evm, { from: SYSTEM, to, data: root })
    expect(await call(evm, { from: USER, to, data: paddedBytes(5000n, 32) })).toBe(
      hexFromBytes(root),
    )
    await expect(call(evm, { from: USER, to, data: paddedBytes(4999n, 32) })).rejects.toThrow(
      'revert',
    )
  })

  it('HISTORY_STORAGE returns the hash of a block (EIP-2935)', async () => {
    const evm = await engineWith(HISTORY_STORAGE)
    const hash = keccak256(Uint8Array.of(2))
    const to = HISTORY_STORAGE.address
    await call(evm, { from: SYSTEM, to, data: hash })
    const later = { number: 1001n }
    expect(await call(evm, { from: USER, to, data: paddedBytes(999n, 32), block: later })).toBe(
      hexFromBytes(hash),
    )
    await expect(
      call(evm, { from: USER, to, data: paddedBytes(1001n, 32), block: later }),
    ).rejects.toThrow('revert')
  })

  it('WITHDRAWAL_REQUESTS queues a withdrawal and returns it once (EIP-7002)', async () => {
    const evm = await engineWith(WITHDRAWAL_REQUESTS)
    const to = WITHDRAWAL_REQUESTS.address
    const key = new Uint8Array(48).fill(7)
    expect(await call(evm, { from: SYSTEM, to })).toBe('0x')
    await call(evm, { from: USER, to, data: concatBytes(key, paddedBytes(258n, 8)), value: 1n })
    // the amount comes out in little-endian order
    const expected = concatBytes(bytesFromHex(USER), key, Uint8Array.of(2, 1, 0, 0, 0, 0, 0, 0))
    expect(await call(evm, { from: SYSTEM, to })).toBe(hexFromBytes(expected))
    expect(await call(evm, { from: SYSTEM, to })).toBe('0x')
  })

  it('CONSOLIDATION_REQUESTS queues a consolidation and returns it once (EIP-7251)', async () => {
    const evm = await engineWith(CONSOLIDATION_REQUESTS)
    const to = CONSOLIDATION_REQUESTS.address
    const keys = concatBytes(new Uint8Array(48).fill(7), new Uint8Array(48).fill(8))
    await call(evm, { from: USER, to, data: keys, value: 1n })
    const expected = concatBytes(bytesFromHex(USER), keys)
    expect(await call(evm, { from: SYSTEM, to })).toBe(hexFromBytes(expected))
    expect(await call(evm, { from: SYSTEM, to })).toBe('0x')
  })

  it('CREATE2_DEPLOYER deploys by salt and init code, and returns the address', async () => {
    const evm = await engineWith(CREATE2_DEPLOYER)
    const salt = paddedBytes(5n, 32)
    // returns one byte of code: 0x01
    const initCode = bytesFromHex('0x600160005360016000f3')
    const address = await call(evm, {
      from: USER,
      to: CREATE2_DEPLOYER.address,
      data: concatBytes(salt, initCode),
    })
    const deployer = bytesFromHex(CREATE2_DEPLOYER.address)
    const preimage = concatBytes(Uint8Array.of(0xff), deployer, salt, keccak256(initCode))
    expect(address).toBe(addressFromBytes(keccak256(preimage)))
    const code = await evm.stateManager.getCode(new EthereumjsAddress(bytesFromHex(address)))
    expect(hexFromBytes(code)).toBe('0x01')
  })
})
