/** Returns an answer in which a cursor says only that there is one: which one depends on the rest of the book. */
export const anyCursor = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'next' in body ? { ...body, next: 'a cursor' } : body

/** A code of a document as it is printed. */
const CODE = /^\w{4}(-\w{4}){3}$/

/**
 * Returns an answer in which the hashes of events, their cursors, the ids of requests and the codes of documents say only
 * that there are some.
 */
export const anyMark = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body, (name, value) => {
      const isCode = name === 'code' && CODE.test(value)
      return isCode || ['hash', 'cursor', 'request_id'].includes(name) ? `some ${name}` : value
    }),
  )

/** Follows `next` from a first path to an empty answer. @returns the items of each answer */
export async function walk<Item>(
  get: (
    path: string,
  ) => Promise<{ status: number; body: { items: readonly Item[]; next?: unknown; message?: unknown } }>,
  path: string,
): Promise<Item[][]> {
  const steps: Item[][] = []
  const separator = path.includes('?') ? '&' : '?'
  for (let next: unknown; ; ) {
    const { status, body } = await get(next === undefined ? path : `${path}${separator}after=${next}`)
    if (status !== 200) throw new Error(`${path}: ${status} ${body.message}`)
    steps.push([...body.items])
    if (body.next === undefined) return steps
    next = body.next
  }
}
