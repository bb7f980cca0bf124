const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Lets this process look at its sockets: where it was busy, an answer may lie there unread when the time for it is over. A second turn,
 * because the first may be the one in which the time was found to be over.
 */
export const readWhatCame = (): Promise<void> => turn().then(turn)

/**
 * Returns an answer, or `late` where it takes more than so many milliseconds and has not come by then.
 * @throws what `asked` throws before
 */
export function inTime<T>(asked: Promise<T>, late: T, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<T>((resolve) => {
    timer = setTimeout(() => void readWhatCame().then(() => resolve(late)), ms).unref()
  })
  return Promise.race([asked, over]).finally(() => clearTimeout(timer))
}
