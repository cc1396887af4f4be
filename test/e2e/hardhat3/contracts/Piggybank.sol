// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Keeps ether until a moment; its pebbles are a small token.
contract Piggybank {
    error TooEarly(uint256 unlockTime, uint256 timestamp);

    event Broken(address indexed owner, uint256 amount, uint256 when);
    event Transfer(address indexed from, address indexed to, uint256 value);

    address public immutable owner;
    uint256 public unlockTime;
    mapping(address => uint256) public balanceOf;

    constructor(uint256 unlockTime_) payable {
        require(unlockTime_ > block.timestamp, "Unlock time should be in the future");
        owner = msg.sender;
        unlockTime = unlockTime_;
        balanceOf[msg.sender] = 1000;
    }

    function smash() external {
        require(msg.sender == owner, "You aren't the owner");
        if (block.timestamp < unlockTime) revert TooEarly(unlockTime, block.timestamp);
        uint256 amount = address(this).balance;
        emit Broken(owner, amount, block.timestamp);
        payable(owner).transfer(amount);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function random() external view returns (uint256) {
        return block.prevrandao;
    }
}
