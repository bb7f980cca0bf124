import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection } from '../httpConnection.ts'
import { readOptions } from '../options.ts'
import { figure } from '../report.ts'
import { Runner } from '../rounds.ts'
import { CONNECTIONS } from '../soak.ts'
import { type Stack, startStack } from '../stack.ts'

// Times statements of 2,000 transactions as PDF, alone and while repayments come at half of their highest rate, and what the
// statements do to the slowest repayments. The options are those of `npm run bench`.

const SECONDS = 10
/** The pauses between two statements. */
const PAUSES = { 'one after the other': 0, 'one every five seconds': 5_000 } as const

const say = (text: string) => process.stdout.write(`${text}\n`)
const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
const closing: (() => unknown)[] = []

/** Asks for the statement of a long loan. @returns how long it took, in milliseconds */
async function timeStatement({ ours: { service, credentials, book } }: Stack): Promise<number> {
  const connection = new HttpConnection(service.port)
  const began = performance.now()
  const head = `GET /v1/loans/${book.firstLoan}/statement HTTP/1.1\r\nhost: api.localhost\r\n`
  const { status } = await connection.send(
    `${head}authorization: Bearer ${credentials.token}\r\naccept: application/pdf\r\n\r\n`,
  )
  connection.close()
  if (status !== 200) throw new Error(`the statement was answered ${status}`)
  return performance.now() - began
}

/** Asks for statements until it is told to stop. @returns how long each took */
async function keepAsking(stack: Stack, pause: number, isOver: () => boolean): Promise<number[]> {
  const times: number[] = []
  while (!isOver()) {
    times.push(await timeStatement(stack))
    if (pause > 0) await sleep(Math.max(0, pause - times.at(-1)!))
  }
  return times
}

async function run(): Promise<void> {
  const options = readOptions(['--loans', '10000', '--rounds', '3', ...process.argv.slice(2)])
  const stack = await startStack(options, closing, say)
  const runner = new Runner(stack, options)
  const first = await timeStatement(stack)
  const alone = []
  for (let count = 0; count < 5; count++) alone.push(await timeStatement(stack))
  say(`a statement of 2,000 transactions: ${figure(first)} ms at first, ${figure(median(alone))} ms then (median of 5)`)

  const { perSecond } = await runner.measure('repayments', 'ours', CONNECTIONS, { seconds: 5, warmUp: 3 })
  const rate = perSecond / 2
  say(`repayments: ${figure(perSecond)}/s at most; measured at ${figure(rate)}/s`)
  const pace = () => runner.measure('repayments', 'ours', CONNECTIONS, { rate, seconds: SECONDS, isPriced: false })
  for (const [name, pause] of Object.entries(PAUSES)) {
    const [quiet, beside, times]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < options.rounds; round++) {
      quiet.push((await pace()).p99)
      let isOver = false
      const asking = keepAsking(stack, pause, () => isOver)
      beside.push((await pace()).p99)
      isOver = true
      times.push(...(await asking))
    }
    const figures = (numbers: readonly number[]) => numbers.map(figure).join(', ')
    say(`${name}: p99 of repayments ${figures(quiet)} ms without, ${figures(beside)} ms with statements,`)
    say(
      `  medians ${figure(median(quiet))} and ${figure(median(beside))} ms; a statement took ${figure(median(times))} ms`,
    )
    say(`  (median of ${times.length}, ${figure(Math.max(...times))} ms at most)`)
  }
  if (runner.errors > 0) say([`${runner.errors} requests failed:`, ...runner.firstErrors].join('\n  '))
}

let failed = true
try {
  await run()
  failed = false
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`)
}
for (const close of closing.reverse()) await Promise.resolve(close()).catch((error: unknown) => say(String(error)))
process.exit(failed ? 1 : 0)
