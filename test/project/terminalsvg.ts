// Draws what a command printed, with its colors, as an SVG of a terminal.

const FOREGROUND: Readonly<Record<string, string>> = {
  '31': '#f7768e',
  '32': '#9ece6a',
  '33': '#e0af68',
  '36': '#7dcfff',
}
const TEXT = '#c0caf5'
const BACKGROUND = '#1a1b26'

/** Pixels. */
const CHARACTER = 7.8
const LINE = 18
const MARGIN = 16

/** The codes of ANSI colors in a text (ECMA-48, SGR), and the text between them. */
const CODES = new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*)m`)

/** An SVG of lines with ANSI colors. */
export function terminalSvg(title: string, text: string): string {
  const lines = text.trimEnd().split('\n')
  const columns = Math.max(...lines.map((line) => plainText(line).length))
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN)
  const height = lines.length * LINE + 2 * MARGIN
  const rows = lines.map((line, row) => rowOf(line, MARGIN + (row + 0.75) * LINE))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="${TEXT}" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`
}

/** The lines that an SVG made here shows, without their colors. */
export function textOfSvg(svg: string): string {
  const rows = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, row = '']) => row)
  return rows.map((row) => unescaped(row.replaceAll(/<[^>]*>/g, ''))).join('\n')
}

function plainText(line: string): string {
  return line.replaceAll(new RegExp(CODES, 'g'), '')
}

function rowOf(line: string, y: number): string {
  const parts = line.split(CODES)
  let style = { color: '', isBold: false, isDim: false }
  const spans = parts.map((part, index) => {
    if (index % 2 === 1) {
      style = styleAfter(style, part)
      return ''
    }
    return part === '' ? '' : spanOf(part, style)
  })
  return `<text x="${MARGIN}" y="${y}">${spans.join('')}</text>`
}

interface Style {
  readonly color: string
  readonly isBold: boolean
  readonly isDim: boolean
}

function styleAfter(style: Style, code: string): Style {
  if (code === '1') return { ...style, isBold: true }
  if (code === '2') return { ...style, isDim: true }
  if (code === '22') return { ...style, isBold: false, isDim: false }
  if (code === '39') return { ...style, color: '' }
  if (code === '0') return { color: '', isBold: false, isDim: false }
  const color = FOREGROUND[code]
  if (color === undefined) throw new Error(`no color for the code ${code}`)
  return { ...style, color }
}

function spanOf(text: string, { color, isBold, isDim }: Style): string {
  const attributes = [
    color === '' ? '' : ` fill="${color}"`,
    isBold ? ' font-weight="bold"' : '',
    isDim ? ' opacity="0.6"' : '',
  ].join('')
  return attributes === '' ? escaped(text) : `<tspan${attributes}>${escaped(text)}</tspan>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
