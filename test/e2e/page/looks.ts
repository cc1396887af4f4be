// Pictures of views at the promised widths and colours, and how they differ from those in fixtures/page.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { ROOT } from '../../support/process/boot.ts'

const FOLDER = path.join(ROOT, 'fixtures/page')
const SCRIPT = path.join(import.meta.dirname, 'looks.mjs')

/** The share of a picture that may differ: a changed number is less, a shifted row is more. */
const MOST_DIFFERENT = 0.006

/** Width and height of the sheet with all pictures of a view. */
const SHEET = [1264, 800] as const

/**
 * Pixels of the page, and of the sheet, which is smaller. The widest first: it has read what the others show. Places on the
 * sheet are multiples of 16, the blocks in which WebP compresses, so that no picture changes another.
 */
const SIGHTS = [
  { size: [2560, 1440], color: 'light', place: [0, 0, 640, 360] },
  { size: [2560, 1440], color: 'dark', place: [0, 368, 640, 360] },
  { size: [1280, 800], color: 'light', place: [640, 0, 428, 268] },
  { size: [1280, 800], color: 'dark', place: [640, 272, 428, 268] },
  { size: [360, 800], color: 'light', place: [1072, 0, 180, 400] },
  { size: [360, 800], color: 'dark', place: [1072, 400, 180, 400] },
] as const

type Sight = (typeof SIGHTS)[number]

interface Picture {
  readonly sight: Sight
  readonly url: string
}

async function show(page: Page, { size: [width, height], color }: Sight): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: color })
}

/** Takes the pictures of a view, which is open, at some widths. @param settled waits until it shows all that it reads */
export async function picturesOf(
  page: Page,
  settled: () => Promise<unknown>,
  widths: readonly number[] = [360, 1280, 2560],
): Promise<readonly Picture[]> {
  const session = await page.context().newCDPSession(page)
  const pictures: Picture[] = []
  for (const sight of SIGHTS.filter(({ size }) => widths.includes(size[0]))) {
    await show(page, sight)
    await settled()
    const [width, height] = sight.size
    const { data } = await session.send('Page.captureScreenshot', {
      clip: { x: 0, y: 0, width, height, scale: sight.place[2] / width },
      optimizeForSpeed: true,
    })
    pictures.push({ sight, url: `data:image/png;base64,${data}` })
  }
  await session.detach()
  return pictures
}

interface Comparison {
  /** A sheet in which all that differs is red. */
  readonly where: string
  readonly different: readonly { readonly sight: Sight; readonly share: number }[]
}

/** Compares pictures of views with those that are kept. */
export class Gallery {
  readonly #page: Page
  #folder: string | undefined

  /** @param page a blank one, which draws and compares */
  constructor(page: Page) {
    this.#page = page
  }

  /** Keeps the pictures of a view. */
  async keep(view: string, pictures: readonly Picture[]): Promise<void> {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(fileOf(view), bytesOf(await this.#draw(pictures)))
  }

  async compare(view: string, pictures: readonly Picture[]): Promise<Comparison> {
    if (!existsSync(fileOf(view))) throw new Error(`no ${fileOf(view)}: npm run pictures draws it`)
    const kept = `data:image/webp;base64,${readFileSync(fileOf(view), 'base64')}`
    const places = pictures.map(({ sight }) => sight.place)
    const sheet = await this.#draw(pictures)
    const { shares, where } = await this.#run<{ shares: readonly number[]; where: string }>(
      'compareSheets',
      sheet,
      kept,
      places,
    )
    const all = pictures.map(({ sight }, i) => ({ sight, share: shares[i]! }))
    return { where, different: all.filter(({ share }) => share > MOST_DIFFERENT) }
  }

  /** Writes what an open view shows otherwise to a folder for temporary files. One line each, which names the files. */
  async report(
    view: string,
    page: Page,
    { where, different }: Comparison,
  ): Promise<readonly string[]> {
    if (different.length === 0) return []
    this.#folder ??= mkdtempSync(path.join(tmpdir(), 'devchain-pictures-'))
    const red = path.join(this.#folder, `${view}.png`)
    writeFileSync(red, bytesOf(where))
    const lines: string[] = []
    for (const { sight, share } of different) {
      const name = `${view} ${sight.size[0]} ${sight.color}`
      const now = path.join(this.#folder, `${name}.png`)
      await show(page, sight)
      await page.screenshot({ path: now })
      const percent = (100 * share).toFixed(1)
      lines.push(`${name}: ${percent} % is not as in ${fileOf(view)}; see ${now} and ${red}`)
    }
    return lines
  }

  async #draw(pictures: readonly Picture[]): Promise<string> {
    await this.#page.addScriptTag({ path: SCRIPT })
    const placed = pictures.map(({ sight: { place }, url }) => ({ place, url }))
    return await this.#run('drawSheet', ...SHEET, placed)
  }

  async #run<T>(name: string, ...values: readonly unknown[]): Promise<T> {
    return (await this.#page.evaluate(
      `${name}(${values.map((each) => JSON.stringify(each))})`,
    )) as T
  }
}

function fileOf(view: string): string {
  return path.join(FOLDER, `${view}.webp`)
}

function bytesOf(url: string): Buffer {
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}
