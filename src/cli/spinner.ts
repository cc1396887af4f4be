// A spinner on the terminal for slow work.

/** Milliseconds before the spinner shows. */
const PATIENCE_MS = 200

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
