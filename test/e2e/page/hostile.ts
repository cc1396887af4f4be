// A contract that says what it is given: as a symbol, a variable, an event, a reason and a console line.
import { type Compilation, compile, contractNamed } from '../../support/solidity/solidity.ts'

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Hostile {
    string public symbol;
    uint8 public constant decimals = 18;
    event Said(string text, address by);

    constructor(string memory symbol_) { symbol = symbol_; }

    function balanceOf(address) external pure returns (uint256) { return 1 ether; }

    function say(string calldata text) external {
        address(0x000000000000000000636F6e736F6c652e6c6f67).staticcall(abi.encodeWithSignature("log(string)", text));
        emit Said(text, msg.sender);
    }

    function fail(string calldata reason) external pure { revert(reason); }
}
`

export const hostile = (): Compilation => compile({ 'src/Hostile.sol': { content: SOURCE } })

/** An artifact by which the contract, a function and its parameter are called like this. */
export function artifactNamed(contractName: string): object {
  const { abi, evm } = contractNamed(hostile(), 'Hostile')
  const inputs = [{ name: contractName, type: 'uint256' }]
  const named = { type: 'function', name: 'f', inputs, outputs: [], stateMutability: 'view' }
  const deployedBytecode = { object: evm.deployedBytecode.object }
  return { contractName, abi: [...abi, named], bytecode: {}, deployedBytecode }
}

/** What could become markup, hide, turn around, break lines, look like an address, or be long. */
export const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['markup', `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`],
  ['controls', 'one\u202etwo\u2066three\u0000\u0007\u001b[31mfour\u200b\r\nfive'],
  ['an address', '0x7099…79c8'],
  ['100,000 letters', 'W'.repeat(100_000)],
]
