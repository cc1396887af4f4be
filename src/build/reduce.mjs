// Writes the reduction of a product out for AssemblyScript, which unrolls no loops: limbs that have names stay in registers.

/** Limbs of 29 bits in a word, and bits of all but the highest. */
const LIMBS = 9
const BITS = 29

const range = (count) => Array.from({ length: count }, (_, i) => i)

/** The products of limbs x and y whose places add up to `column`, with those of x from `first` on. */
function products(x, y, column, lengths = [LIMBS, LIMBS], first = 0) {
  return range(lengths[0])
    .filter((i) => i >= first && column - i >= 0 && column - i < lengths[1])
    .map((i) => `${x}${i} * ${y}${column - i}`)
}

/** Column of a square: each product of two limbs comes twice. */
function squares(column) {
  const pairs = range(LIMBS).filter((i) => 2 * i < column && column - i < LIMBS)
  const twice = pairs.map((i) => `a${i} * a${column - i}`).join(' + ')
  const middle = column % 2 === 0 ? [`a${column / 2} * a${column / 2}`] : []
  return [...(twice ? [`((${twice}) << 1)`] : []), ...middle]
}

/** The limbs of the word at a place. */
function split(name, word, place) {
  const limb = (i) => {
    const [at, within] = [Math.floor((BITS * i) / 64), (BITS * i) % 64]
    const above = within + BITS > 64 && at < 3 ? ` | (${word}${at + 1} << ${64 - within})` : ''
    return `const ${name}${i} = ((${word}${at} >> ${within})${above}) & ALL`
  }
  return [
    ...range(4).map((i) => `const ${word}${i} = load<u64>(${place}, ${8 * i})`),
    ...range(LIMBS).map(limb),
  ]
}

/** x: the product, column by column; no column overflows 64 bits. */
function columns(termsOf) {
  return range(2 * LIMBS - 1).flatMap((column) => [
    `t = ${[...(column ? ['(t >> BITS)'] : []), ...termsOf(column)].join(' + ')}`,
    `x${column} = t & ALL`,
  ])
}

/** The quotient: y times the reciprocal v, whose highest bit, above its ten limbs, is not kept, times two. */
function quotient() {
  const column = (at) => [`y${at - 10}`, ...products('y', 'v', at, [10, 10])].join(' + ')
  return [
    `t = ${products('y', 'v', 9, [10, 10]).join(' + ')}`,
    `t = (t >> BITS) + ${column(10)}`,
    ...range(LIMBS - 1).flatMap((i) => [
      `t = (t >> ${i === 0 ? '28' : 'BITS'}) + ((${column(11 + i)}) << 1)`,
      `const q${i} = t & ALL`,
    ]),
    'const q8 = (t >> BITS) + (y9 << 1)',
  ]
}

/** r = x - q * m, or r - m: limb by limb, each with what the one below lacks. */
function difference(declares, partOf) {
  return range(LIMBS).flatMap((i) => [
    `${i === 0 ? `${declares ? 'let s: i64' : 's'} =` : 's = (s >> 29) +'} ((${partOf(i)}) as i64)`,
    `${declares ? 'let ' : ''}r${i} = (s as u64) & ALL`,
  ])
}

/** The limbs of r, as a word again. */
function join() {
  return range(4).map((i) => {
    const inside = range(LIMBS).filter((l) => BITS * l < 64 * (i + 1) && BITS * (l + 1) > 64 * i)
    const parts = inside.map((l) => {
      const shift = BITS * l - 64 * i
      return shift < 0 ? `(r${l} >> ${-shift})` : `(r${l} << ${shift})`
    })
    return `store<u64>(c, ${parts.join(' | ')}, ${8 * i})`
  })
}

/**
 * The module's text: c = (a * b) mod m, by Barrett's reduction with the reciprocal that the entry keeps (Handbook of Applied
 * Cryptography, 14.42). The ten limbs y of the product x decide on the quotient q, which may be one too small: nearly never, and
 * then the rest r is not below m. Of x - q * m the lowest nine limbs are worked out alone, as the others are 0.
 */
export function reduceText() {
  const body = [
    'const shift = load<u64>(entry, MODULUS_SHIFT)',
    'const back = BITS - shift',
    ...split('a', 'w', 'a'),
    ...range(2 * LIMBS - 1).map((i) => `let x${i}: u64`),
    'let t: u64',
    'if (isEqual(a, b)) {',
    ...columns(squares),
    '} else {',
    ...split('b', 'z', 'b'),
    ...columns((column) => products('a', 'b', column)),
    '}',
    'const x17 = t >> BITS',
    ...range(10).map((i) => `const y${i} = (x${i + 7} >> shift) | ((x${i + 8} << back) & ALL)`),
    ...range(10).map((i) => `const v${i} = load<u64>(entry, MODULUS_RECIPROCAL + ${8 * i})`),
    ...quotient(),
    ...range(LIMBS).map((i) => `const m${i} = load<u64>(entry, MODULUS_LIMBS + ${8 * i})`),
    ...difference(true, (i) => `x${i} - (${products('q', 'm', i).join(' + ')})`),
    `if (!${range(LIMBS).reduce((rest, i) => `(r${i} < m${i} || (r${i} == m${i} && ${rest}))`, 'false')}) {`,
    ...difference(false, (i) => `r${i} - m${i}`),
    '}',
    ...join(),
  ]
  return [
    '// Made by build/reduce.mjs: never edited, never committed.',
    "import { MODULUS_LIMBS, MODULUS_RECIPROCAL, MODULUS_SHIFT } from '../../layout'",
    "import { isEqual } from './words'",
    '',
    `const BITS: u64 = ${BITS}`,
    `const ALL: u64 = ${2 ** BITS - 1}`,
    '',
    'export function reduce(a: usize, b: usize, c: usize, entry: usize): void {',
    ...body.map((line) => `  ${line}`),
    '}',
    '',
  ].join('\n')
}
