// Tables as text.

/** Columns as wide as their widest cell: the first `texts` left-aligned, numbers right-aligned. */
export function aligned(lines: readonly (readonly string[])[], texts: number): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const pad = (cell: string, i: number): string =>
    i < texts ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}
