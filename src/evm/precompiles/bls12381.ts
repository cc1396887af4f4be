// The precompiles of BLS12-381 (EIP-2537): addition, multi-scalar multiplication, pairing, mapping to the curve.
import { type Curve, G1, G2, type Group, lazyCurve } from './mcl.ts'
import { ofPoints, pairingResult, sumOfMultiples, sumOfTwo } from './pairing.ts'
import type { PrecompileCode } from './precompile.ts'

export const bls12381: () => Curve = lazyCurve({
  number: 5,
  modulus:
    0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
  width: 64,
  padding: 16,
  imaginaryFirst: false,
  isG1Whole: false,
})

const FIRST = 128
const SECOND = 256
const SCALAR = 32
const PAIR = FIRST + SECOND

export const g1Add: PrecompileCode = adding(G1, 375n)
export const g2Add: PrecompileCode = adding(G2, 600n)

/** Discounts of multi-scalar multiplication by number of points, in thousandths; the last one applies beyond. */
const DISCOUNTS_G1 = parseDiscounts(
  '1000 949 848 797 764 750 738 728 719 712 705 698 692 687 682 677 673 669 665 661 658 654 651 648 645 642 640 637 635 632 630 627 625 623 621 619 617 615 613 611 609 608 606 604 603 601 599 598 596 595 593 592 591 589 588 586 585 584 582 581 580 579 577 576 575 574 573 572 570 569 568 567 566 565 564 563 562 561 560 559 558 557 556 555 554 553 552 551 550 549 548 547 547 546 545 544 543 542 541 540 540 539 538 537 536 536 535 534 533 532 532 531 530 529 528 528 527 526 525 525 524 523 522 522 521 520 520 519',
)
const DISCOUNTS_G2 = parseDiscounts(
  '1000 1000 923 884 855 832 812 796 782 770 759 749 740 732 724 717 711 704 699 693 688 683 679 674 670 666 663 659 655 652 649 646 643 640 637 634 632 629 627 624 622 620 618 615 613 611 609 607 606 604 602 600 598 597 595 593 592 590 589 587 586 584 583 582 580 579 578 576 575 574 573 571 570 569 568 567 566 565 563 562 561 560 559 558 557 556 555 554 553 552 552 551 550 549 548 547 546 545 545 544 543 542 541 541 540 539 538 537 537 536 535 535 534 533 532 532 531 530 530 529 528 528 527 526 526 525 524 524',
)

export const g1MultiplySum: PrecompileCode = multiplying(G1, 12_000n, DISCOUNTS_G1)
export const g2MultiplySum: PrecompileCode = multiplying(G2, 22_500n, DISCOUNTS_G2)

export const blsPairing: PrecompileCode = {
  gas: ({ length }) => 37_700n + 32_600n * BigInt(Math.floor(length / PAIR)),
  run: (input) => {
    if (input.length === 0 || input.length % PAIR !== 0) return undefined
    return ofPoints(bls12381(), (points) => pairingResult(points, input))
  },
}

export const mapToG1: PrecompileCode = mapping(G1, 5_500n)
export const mapToG2: PrecompileCode = mapping(G2, 23_800n)

function adding(group: Group, gas: bigint): PrecompileCode {
  const width = widthOf(group)
  return {
    gas: () => gas,
    run: (input) => {
      if (input.length !== 2 * width) return undefined
      return ofPoints(bls12381(), (points) => sumOfTwo(points, group, input))
    },
  }
}

function multiplying(group: Group, each: bigint, discounts: readonly bigint[]): PrecompileCode {
  const width = widthOf(group) + SCALAR
  return {
    gas: ({ length }) => {
      const count = Math.floor(length / width)
      if (count === 0) return 0n
      const discount = discounts[Math.min(count, discounts.length) - 1] ?? 1_000n
      return (BigInt(count) * each * discount) / 1_000n
    },
    run: (input) => {
      if (input.length === 0 || input.length % width !== 0) return undefined
      return ofPoints(bls12381(), (points) => sumOfMultiples(points, group, input))
    },
  }
}

function mapping(group: Group, gas: bigint): PrecompileCode {
  return {
    gas: () => gas,
    run: (input) => {
      if (input.length !== widthOf(group) / 2) return undefined
      return ofPoints(bls12381(), (points) =>
        points.with(group.size, (at) => {
          points.mapTo(group, at, input)
          return points.writePoint(group, at)
        }),
      )
    },
  }
}

function widthOf(group: Group): number {
  return group.fields * FIRST
}

function parseDiscounts(text: string): readonly bigint[] {
  return text.split(' ').map(BigInt)
}
