// A token and a pool that swaps it, for stories about transactions and contracts.
import type { Devchain } from '../../../src/devchain.ts'
import { type Compilation, compile, contractNamed } from '../../support/solidity/solidity.ts'

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Token {
    string public name = "Gold";
    string public symbol = "GLD";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    error InsufficientBalance(address account, uint256 wanted, uint256 available);

    constructor(uint256 supply) {
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return _move(msg.sender, to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "allowance too low");
        allowance[from][msg.sender] -= value;
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 value) internal returns (bool) {
        uint256 available = balanceOf[from];
        if (available < value) revert InsufficientBalance(from, value, available);
        balanceOf[from] = available - value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}

contract Pool {
    Token public token;
    uint256 public price = 2;
    mapping(address => uint256) public swaps;

    event Swapped(address indexed by, uint256 paid, uint256 received);

    constructor(Token token_) payable {
        token = token_;
    }

    function swap(uint256 amount) external returns (uint256 received) {
        received = amount / price;
        token.transferFrom(msg.sender, address(this), amount);
        payable(msg.sender).transfer(received);
        swaps[msg.sender] += 1;
        emit Swapped(msg.sender, amount, received);
    }
}
`

export const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** A word of 32 bytes without 0x. */
export function word(value: string | number | bigint): string {
  return BigInt(value).toString(16).padStart(64, '0')
}

export interface Swapping {
  readonly token: string
  readonly pool: string
  /** Approves and swaps an amount of an account; returns the hash of the swap, also of a failed one. */
  readonly swap: (from: string, amount: bigint) => Promise<string>
}

const APPROVE = '0x095ea7b3'
const SWAP = '0x94b918de'

/** Deploys both, alice having 1,000,000 of the token, and hands the artifacts over. */
export async function deploySwap(devchain: Devchain): Promise<Swapping> {
  const rpc = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    devchain.request({ method, params })
  const compilation: Compilation = compile({ 'src/Pool.sol': { content: SOURCE } })
  await rpc('hardhat_addCompilationResult', '0.8.37', compilation.input, compilation.output)
  const deploy = async (name: string, argument: string, value = '0x0'): Promise<string> => {
    const data = `0x${contractNamed(compilation, name).evm.bytecode.object}${word(argument)}`
    const hash = await rpc('eth_sendTransaction', { from: ALICE, gas: '0x400000', data, value })
    const receipt = await rpc('eth_getTransactionReceipt', hash)
    return (receipt as { contractAddress: string }).contractAddress
  }
  const token = await deploy('Token', '1000000')
  const pool = await deploy('Pool', token, '0xde0b6b3a7640000')
  return {
    token,
    pool,
    swap: async (from, amount) => {
      const send = (to: string, data: string): Promise<unknown> =>
        rpc('eth_sendTransaction', { from, to, gas: '0x100000', data })
      await send(token, `${APPROVE}${word(pool)}${word(amount)}`)
      try {
        return String(await send(pool, `${SWAP}${word(amount)}`))
      } catch (error) {
        const { data } = error as { data?: { hash?: string } | string }
        const block = await rpc('eth_getBlockByNumber', 'latest', false)
        const [hash = ''] = (block as { transactions: string[] }).transactions
        return typeof data === 'object' ? (data.hash ?? hash) : hash
      }
    },
  }
}
