import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { renderEvents } from '../../src/app/app.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { operator } from '../../src/services/access/caller.ts'
import { Delivery } from '../../src/services/webhooks/delivery.ts'
import { createEndpoint, getEndpoint } from '../../src/services/webhooks/endpoints.ts'
import { createPoster, type Poster } from '../../src/services/webhooks/poster.ts'
import { type HeldBook, layEvents } from './lay.ts'
import { startUnreliableReceiver, type UnreliableReceiver } from './receiver.ts'

// Delivers many events to a receiver that fails almost a third of the time, by processes that are killed meanwhile, and
// counts: each event at least once, and of each loan in order. The clock is held, and moved to what is due next.

/** Rounds after which a process is killed, and another one takes over. */
const ROUNDS_A_LIFE = 40
/** Real milliseconds for an answer: the receiver leaves some requests without one. */
const ANSWER_WITHIN_MS = 300

const { values } = parseArgs({
  options: { events: { type: 'string', default: '100000' }, loans: { type: 'string', default: '1000' } },
})
const say = (text: string) => process.stdout.write(`${text}\n`)
const closing: (() => unknown)[] = []

/** A process that sends until it is killed: then it sends nothing more, and saves nothing. */
function startLife(book: HeldBook, poster: Poster): { delivery: Delivery; kill(): void } {
  const { deps } = book
  let isKilled = false
  const never = new Promise<never>(() => undefined)
  const mortal: Poster = {
    ...poster,
    post: (message) => (isKilled ? never : poster.post(message).then((posted) => (isKilled ? never : posted))),
  }
  const log = { warn: () => undefined, error: () => undefined }
  const options = { render: renderEvents(deps.config.zone), log }
  return {
    delivery: new Delivery({ ...deps, webhookPoster: mortal }, options),
    kill: () => {
      isKilled = true
    },
  }
}

/** Sends all that there is. @returns the rounds, and the processes that it took */
async function deliverAll(book: HeldBook, poster: Poster): Promise<{ rounds: number; lives: number }> {
  let life = startLife(book, poster)
  let [rounds, lives] = [0, 1]
  for (;;) {
    const state = await life.delivery.round()
    if (++rounds % ROUNDS_A_LIFE === 0 && state !== 'idle') {
      life.kill()
      life = startLife(book, poster)
      lives++
      book.wait(31_000)
      continue
    }
    await life.delivery.quiet()
    if (state !== 'idle') continue
    const due = await book.nextDueAt()
    if (due === undefined) break
    book.wait(Math.max(1, due - book.deps.machineNow()))
  }
  await life.delivery.stop()
  return { rounds, lives }
}

function tableOf(receiver: UnreliableReceiver, events: number, more: readonly [string, number][]): string {
  const { requests, taken, twice, disordered, unsigned } = receiver.counts()
  const table = new Table({ head: ['', 'number'], colAligns: ['left', 'right'], style: { head: [], border: [] } })
  const lines: readonly (readonly [string, number])[] = [
    ['events of the book', events],
    ['requests that the receiver got', requests],
    ['events taken at least once', taken],
    ['events missing', events - taken],
    ['events taken more than once', twice],
    ['events of a loan out of order', disordered],
    ['requests with a bad signature', unsigned],
    ...more,
  ]
  for (const [name, count] of lines) table.push([name, count.toLocaleString('en')])
  return table.toString()
}

async function run(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-webhooks-'))
  closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  await chmod(directory, 0o755)
  const quiet = { debug: () => undefined, info: () => undefined, warn: say }
  const server = await startEmbedded({ directory: join(directory, 'data'), durable: false, log: quiet })
  closing.push(() => server.stop())
  const book = await layEvents(server.url, { events: Number(values.events), loans: Number(values.loans), say })
  closing.push(() => book.close())
  const receiver = await startUnreliableReceiver()
  closing.push(() => receiver.close())
  const poster = createPoster({ toPrivate: true, answerWithinMs: ANSWER_WITHIN_MS })
  closing.push(() => poster.close())
  const caller = operator(1, 'try webhooks')
  const { endpoint, secret } = await createEndpoint(book.deps, caller, { url: receiver.url, from: 'beginning' })
  receiver.expect(secret)

  const began = performance.now()
  const { rounds, lives } = await deliverAll(book, poster)
  const seconds = (performance.now() - began) / 1000
  const { behind, state } = await getEndpoint(book.deps, caller, endpoint.id)
  const { taken, disordered, unsigned } = receiver.counts()
  const more: [string, number][] = [
    ['processes that sent, all but the last killed', lives],
    ['rounds', rounds],
    ['seconds', Math.round(seconds)],
    ['events a second', Math.round(taken / seconds)],
  ]
  say(tableOf(receiver, book.events, more))
  const isRight = taken === book.events && disordered === 0 && unsigned === 0 && behind === 0 && state === 'active'
  if (!isRight) say(`WRONG: the endpoint is ${state}, and ${behind} events behind`)
  return isRight
}

try {
  process.exitCode = (await run()) ? 0 : 1
} finally {
  for (const close of closing.toReversed()) await close()
}
