// What a Hardhat 3 project's tests lean on, against the chain on localhost.
import { anyValue } from '@nomicfoundation/hardhat-ethers-chai-matchers/withArgs'
import { expect } from 'chai'
import { network } from 'hardhat'

const { ethers, networkHelpers: helpers, networkName, provider } = await network.getOrCreate()
const { time } = helpers
const loadFixture = helpers.loadFixture.bind(helpers)
const mine = helpers.mine.bind(helpers)
const YEAR = 365 * 24 * 60 * 60
const amount = ethers.parseEther('1')

async function deployed() {
  const unlockTime = (await time.latest()) + YEAR
  const [owner, other] = await ethers.getSigners()
  const bank = await ethers.deployContract('Piggybank', [unlockTime], { value: amount })
  return { bank, unlockTime, owner, other }
}

describe('the network', () => {
  it('is the one on localhost', async () => {
    expect(networkName).to.equal('localhost')
    expect((await ethers.getSigners()).length).to.be.greaterThanOrEqual(10)
  })
})

describe('fixtures', () => {
  it('return to the same state each time', async () => {
    const { bank, other } = await loadFixture(deployed)
    await bank.transfer(other.address, 10)
    const again = await loadFixture(deployed)
    expect(await again.bank.balanceOf(other.address)).to.equal(0)
    await again.bank.transfer(other.address, 20)
    const third = await loadFixture(deployed)
    expect(await third.bank.balanceOf(other.address)).to.equal(0)
  })

  it('take and restore snapshots', async () => {
    const { bank, other } = await loadFixture(deployed)
    const snapshot = await helpers.takeSnapshot()
    await bank.transfer(other.address, 10)
    await snapshot.restore()
    expect(await bank.balanceOf(other.address)).to.equal(0)
    await bank.transfer(other.address, 30)
    await snapshot.restore()
    expect(await bank.balanceOf(other.address)).to.equal(0)
  })
})

describe('matchers', () => {
  it('recognize revert reasons', async () => {
    const { bank, other } = await loadFixture(deployed)
    await expect(bank.connect(other).smash()).to.be.revertedWith("You aren't the owner")
    const Piggybank = await ethers.getContractFactory('Piggybank')
    await expect(Piggybank.deploy(await time.latest())).to.be.revertedWith(
      'Unlock time should be in the future',
    )
  })

  it('recognize custom errors with arguments in sends, calls and estimates', async () => {
    const { bank, unlockTime } = await loadFixture(deployed)
    await expect(bank.smash())
      .to.be.revertedWithCustomError(bank, 'TooEarly')
      .withArgs(unlockTime, anyValue)
    await expect(bank.smash.staticCall()).to.be.revertedWithCustomError(bank, 'TooEarly')
    await expect(bank.smash.estimateGas()).to.be.revertedWithCustomError(bank, 'TooEarly')
    await expect(bank.smash({ gasLimit: 100_000 })).to.be.revertedWithCustomError(bank, 'TooEarly')
  })

  it('recognize panics', async () => {
    const { bank, other } = await loadFixture(deployed)
    await expect(bank.transfer(other.address, 1001)).to.be.revertedWithPanic(0x11)
    await expect(bank.transfer(other.address, 1001)).to.revert(ethers)
    await expect(bank.transfer(other.address, 1)).not.to.revert(ethers)
  })

  it('recognize events with arguments', async () => {
    const { bank, unlockTime, owner } = await loadFixture(deployed)
    await time.increaseTo(unlockTime)
    await expect(bank.smash())
      .to.emit(bank, 'Broken')
      .withArgs(owner.address, amount, unlockTime + 1)
  })

  it('recognize balance changes of ether and tokens', async () => {
    const { bank, unlockTime, owner, other } = await loadFixture(deployed)
    await time.increaseTo(unlockTime)
    await expect(() => bank.smash()).to.changeEtherBalances(
      ethers,
      [owner, bank],
      [amount, -amount],
    )
    await expect(bank.transfer(other.address, 5)).to.changeTokenBalances(
      ethers,
      bank,
      [owner, other],
      [-5, 5],
    )
    await expect(owner.sendTransaction({ to: other.address, value: 7 })).to.changeEtherBalance(
      ethers,
      other,
      7,
    )
  })
})

describe('time', () => {
  it('moves by seconds, to a timestamp, and for the next block alone', async () => {
    const before = await time.latest()
    expect(await time.increase(3600)).to.equal(before + 3600)
    await time.increaseTo(before + 7200)
    expect(await time.latest()).to.equal(before + 7200)
    await time.setNextBlockTimestamp(before + 9000)
    expect(await time.latest()).to.equal(before + 7200)
    await mine()
    expect(await time.latest()).to.equal(before + 9000)
  })

  it('passes at the requested interval in mined blocks', async () => {
    const height = await time.latestBlock()
    await mine(1000)
    expect(await time.latestBlock()).to.equal(height + 1000)
    await mine(10, { interval: 60 })
    const first = await ethers.provider.getBlock(height + 1001)
    expect(await time.latest()).to.equal(first.timestamp + 9 * 60)
    await helpers.mineUpTo(height + 2000)
    expect(await time.latestBlock()).to.equal(height + 2000)
  })
})

describe('accounts', () => {
  it('have the balance, nonce, code and storage that were set', async () => {
    const { bank, other } = await loadFixture(deployed)
    const address = '0x00000000000000000000000000000000000a11ce'
    await helpers.setBalance(address, 12345n)
    expect(await ethers.provider.getBalance(address)).to.equal(12345n)
    await helpers.setNonce(address, 7)
    expect(await ethers.provider.getTransactionCount(address)).to.equal(7)
    await helpers.setCode(address, '0x602a60005260206000f3')
    expect(await ethers.provider.call({ to: address })).to.equal(ethers.toBeHex(42, 32))
    const slot = ethers.solidityPackedKeccak256(['uint256', 'uint256'], [other.address, 1])
    await helpers.setStorageAt(await bank.getAddress(), slot, 99)
    expect(await helpers.getStorageAt(await bank.getAddress(), slot)).to.equal(
      ethers.toBeHex(99, 32),
    )
    expect(await bank.balanceOf(other.address)).to.equal(99)
  })

  it('can be impersonated', async () => {
    const { bank } = await loadFixture(deployed)
    const address = '0x00000000000000000000000000000000000b0b0b'
    await helpers.setBalance(address, amount)
    await helpers.impersonateAccount(address)
    const signer = await ethers.getSigner(address)
    await expect(bank.connect(signer).smash()).to.be.revertedWith("You aren't the owner")
    await signer.sendTransaction({
      to: bank.target,
      data: bank.interface.encodeFunctionData('transfer', [address, 0]),
    })
    await helpers.stopImpersonatingAccount(address)
    await expect(signer.sendTransaction({ to: address })).to.be.rejected
  })
})

describe('blocks', () => {
  it('have the base fee, the randomness, the miner and the gas limit that were set', async () => {
    const { bank } = await loadFixture(deployed)
    await helpers.setNextBlockBaseFeePerGas(5_000_000_000n)
    await mine()
    expect((await ethers.provider.getBlock('latest')).baseFeePerGas).to.equal(5_000_000_000n)
    await helpers.setPrevRandao(123456)
    await mine()
    expect(await bank.random()).to.not.equal(0)
    const block = await ethers.provider.send('eth_getBlockByNumber', ['latest', false])
    expect(BigInt(block.mixHash)).to.equal(123456n)
    await helpers.setCoinbase('0x000000000000000000000000000000000000c01b')
    await helpers.setBlockGasLimit(20_000_000)
    await mine()
    const next = await ethers.provider.getBlock('latest')
    expect(next.miner).to.equal(ethers.getAddress('0x000000000000000000000000000000000000c01b'))
    expect(next.gasLimit).to.equal(20_000_000n)
  })
})

describe('transactions', () => {
  it('wait while automining is off, and can be dropped', async () => {
    const { owner, other } = await loadFixture(deployed)
    await provider.request({ method: 'evm_setAutomine', params: [false] })
    try {
      const sent = await owner.sendTransaction({ to: other.address, value: 1 })
      const kept = await other.sendTransaction({ to: owner.address, value: 1 })
      await helpers.dropTransaction(sent.hash)
      await mine()
      expect(await ethers.provider.getTransactionReceipt(sent.hash)).to.equal(null)
      expect((await kept.wait()).status).to.equal(1)
    } finally {
      await provider.request({ method: 'evm_setAutomine', params: [true] })
    }
  })
})
