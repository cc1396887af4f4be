// With the project's artifacts, --compat hardhat has the words that Hardhat's node has with its own compilations.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createDevchain, type RpcError } from '../../src/devchain.ts'
import { type Ask, callData, deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import { compile, writeProject } from '../support/solidity/solidity.ts'

const content = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract P {
  struct S { uint256 a; string b; }
  error Insufficient(uint256 have, uint256 want);
  error Mixed(int256 i, string s, address a, bytes b, bool c, bytes4 d, uint256[] e, S f);
  function insufficient() external pure { revert Insufficient(0, 3 ether); }
  function mixed() external pure {
    uint256[] memory e = new uint256[](2);
    e[1] = 7;
    revert Mixed(-5, 'it is "x"', 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, hex"abcd", true, 0x01020304, e, S(9, "z"));
  }
  function silent() external pure { require(msg.sig == 0); }
  function flag(bool) external pure {}
}
contract Q {
  fallback() external {}
  function outer(P p) external pure { p.insufficient(); }
}
`

const folder = mkdtempSync(path.join(tmpdir(), 'devchain-hardhatwords-'))

afterAll(() => rmSync(folder, { recursive: true }))

const INSUFFICIENT =
  "VM Exception while processing transaction: reverted with custom error 'Insufficient(0, 3000000000000000000)'"

test('--compat hardhat has the messages of Hardhat 2.29.1 for the same contracts', async () => {
  const project = compile({ 'src/P.sol': { content } })
  const artifacts = [writeProject(folder, 'hardhat2', project)]
  await using chain = await createDevchain({ compat: 'hardhat', artifacts })
  await chain.artifactsRead()
  const ask: Ask = (method, ...params) => chain.request({ method, params })
  const p = await deploy(ask, initCode(project, 'P'))
  const q = await deploy(ask, initCode(project, 'Q'))
  const insufficient = callData(project, 'P', 'insufficient')
  const cases: readonly (readonly [request: object, message: string])[] = [
    [{ to: p, data: insufficient }, INSUFFICIENT],
    [{ to: q, data: callData(project, 'Q', 'outer', [p]) }, INSUFFICIENT],
    [
      { to: p, data: callData(project, 'P', 'mixed') },
      'VM Exception while processing transaction: reverted with custom error \'Mixed(-5, "it is "x"", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0xabcd", true, "0x01020304", [0, 7], [9, "z"])\'',
    ],
    [
      { to: p, data: callData(project, 'P', 'silent') },
      'Transaction reverted without a reason string',
    ],
    [
      { to: p, data: '0x12345678' },
      "Transaction reverted: function selector was not recognized and there's no fallback function",
    ],
    [
      { to: p, data: '0x' },
      "Transaction reverted: function selector was not recognized and there's no fallback nor receive function",
    ],
    [
      { to: p, data: insufficient, value: '0x5' },
      'Transaction reverted: non-payable function was called with value 5',
    ],
    [
      { to: q, data: '0x12345678', value: '0x5' },
      'Transaction reverted: fallback function is not payable and was called with value 5',
    ],
    [
      { to: p, data: `${callData(project, 'P', 'flag', [true]).slice(0, 10)}01` },
      'Transaction reverted: function was called with incorrect parameters',
    ],
    [
      {
        to: q,
        data: callData(project, 'Q', 'outer', ['0x0000000000000000000000000000000000001234']),
      },
      'Transaction reverted: function call to a non-contract account',
    ],
  ]
  for (const [request, message] of cases) {
    for (const method of ['eth_call', 'eth_estimateGas', 'eth_sendTransaction']) {
      const given = { from: SENDER, gas: '0x100000', ...request }
      const error = await ask(method, given).catch((each: RpcError) => each)
      expect(error, method).toMatchObject({ code: 3, message })
    }
  }
})
