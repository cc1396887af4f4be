// Runs in a browser: draws pictures of a view on one sheet, reduced, and compares the sheet with a kept one.

/** Pixels of the sheet that are compared as one. */
const BLOCK = 8

/** Of 255: how much the pixels of a block may differ on average, and how much the averages of its channels may. */
const MOST_APART = 12
const MOST_TINT = 4

/** Gives the sheet as WebP. */
globalThis.drawSheet = async (width, height, pictures) => {
  const context = new OffscreenCanvas(width, height).getContext('2d')
  for (const { url, place } of pictures) context.drawImage(await imageAt(url), ...place)
  return await urlOf(context.canvas, { type: 'image/webp', quality: 0.7 })
}

/** Gives the share of each picture's blocks that differ between two sheets, and a sheet in which these are red. */
globalThis.compareSheets = async (drawnUrl, keptUrl, places) => {
  const [drawn, kept] = [await contextOf(drawnUrl), await contextOf(keptUrl)]
  const { width, height } = drawn.canvas
  const [now, then] = [drawn, kept].map((each) => each.getImageData(0, 0, width, height).data)
  drawn.fillStyle = 'rgb(255 0 0 / 0.4)'
  const shares = places.map(([left, top, across, down]) => {
    const [columns, rows] = [across, down].map((pixels) => Math.floor(pixels / BLOCK))
    let different = 0
    for (let block = 0; block < columns * rows; block++) {
      const x = left + (block % columns) * BLOCK
      const y = top + Math.floor(block / columns) * BLOCK
      if (!differs(now, then, x, y, width)) continue
      different += 1
      drawn.fillRect(x, y, BLOCK, BLOCK)
    }
    return different / (columns * rows)
  })
  const where = shares.some((share) => share > 0) ? await urlOf(drawn.canvas) : ''
  return { shares, where }
}

function differs(now, then, left, top, width) {
  const tints = [0, 0, 0]
  let apart = 0
  for (let y = top; y < top + BLOCK; y++) {
    for (let x = left; x < left + BLOCK; x++) {
      let most = 0
      for (let channel = 0; channel < 3; channel++) {
        const at = 4 * (y * width + x) + channel
        const by = now[at] - then[at]
        tints[channel] += by
        most = Math.max(most, Math.abs(by))
      }
      apart += most
    }
  }
  const pixels = BLOCK * BLOCK
  return apart > MOST_APART * pixels || tints.some((tint) => Math.abs(tint) > MOST_TINT * pixels)
}

async function imageAt(url) {
  const image = new Image()
  image.src = url
  await image.decode()
  return image
}

async function contextOf(url) {
  const image = await imageAt(url)
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  return context
}

async function urlOf(canvas, format) {
  const reader = new FileReader()
  reader.readAsDataURL(await canvas.convertToBlob(format))
  await new Promise((resolve) => reader.addEventListener('load', resolve))
  return reader.result
}
