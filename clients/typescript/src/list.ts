import type { Call, Listed, Operation } from './operation.ts'

/** What the parts of lists say of what follows. */
interface Envelope {
  readonly items: readonly unknown[]
  readonly next?: string
  /** Of the feed of events, which has a `next` at its end, too. */
  readonly hasMore?: boolean
  readonly page?: number
  readonly rowsPerPage?: number
  readonly total?: bigint
}

/**
 * Asks for a part of a list, and gives its items and those that follow to `for await`: by the cursor, or by pages where the
 * order of the list has no cursor.
 */
export function list<Page>(
  ask: (operation: Operation, call?: Call) => Promise<unknown>,
  operation: Operation,
  call?: Call,
): Listed<Page> {
  const first = ask(operation, call) as Promise<Envelope>
  async function* items() {
    for (let part = await first; ; ) {
      yield* part.items
      const following = queryAfter(part)
      if (following === undefined) return
      const { page: _, ...query } = (operation.query ?? {}) as Record<string, unknown>
      part = (await ask({ ...operation, query: { ...query, ...following } }, call)) as Envelope
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items }) as unknown as Listed<Page>
}

/** Returns the parameters of the part that follows; undefined at the end of the list. */
function queryAfter({ next, hasMore, page, rowsPerPage, total }: Envelope): object | undefined {
  if (hasMore === false) return undefined
  if (next !== undefined) return { after: next }
  const isPage = page !== undefined && rowsPerPage !== undefined && total !== undefined
  return isPage && BigInt(page * rowsPerPage) < total ? { page: page + 1 } : undefined
}
