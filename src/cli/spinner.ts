// A sign of life on the terminal while something takes long.

/** Nothing that is done by then shows a spinner. */
const PATIENCE_MS = 200

/** Runs `work`; on a terminal a spinner stands beside `text` from the time it takes long until it is done. */
export async function withSpinner<T>(
  text: string,
  isTerminal: boolean,
  work: () => Promise<T>,
): Promise<T> {
  if (!isTerminal) return await work()
  let isDone = false
  let stop: (() => void) | undefined
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora')
    if (isDone) return
    const spinner = ora({ text, discardStdin: false }).start()
    stop = () => spinner.stop()
  }, PATIENCE_MS)
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timer)
    stop?.()
  }
}
