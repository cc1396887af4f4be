// web3: the program's name, and Keccak-256.
import { keccakHash } from '../core/crypto/crypto.ts'
import { param } from '../rpc/method.ts'
import { data, hash, text } from '../rpc/primitives.ts'
import { type Methods, method } from './common/context.ts'
import { clientVersionOf } from './common/version.ts'

export const web3Methods: Methods = [
  method('web3_clientVersion', {
    summary: 'Returns name and version of this program, the system and the runtime.',
    result: text,
    handle: clientVersionOf,
  }),
  method('web3_sha3', {
    summary: 'Returns the Keccak-256 of the data (not standard SHA3-256).',
    params: [param('data', data)],
    result: hash,
    example: {
      params: ['0x68656c6c6f20776f726c64'],
      result: '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
    },
    handle: (_, bytes) => keccakHash(bytes),
  }),
]
