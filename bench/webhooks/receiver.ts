import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** What a receiver counted. */
export interface Counts {
  readonly requests: number
  /** Events that were taken, each counted once. */
  readonly taken: number
  readonly twice: number
  /** Events that were taken for the first time after a later one of the same loan. */
  readonly disordered: number
  readonly unsigned: number
}

/** A receiver that fails almost a third of the time, in every way. */
export interface UnreliableReceiver {
  readonly url: string
  expect(secret: string): void
  counts(): Counts
  close(): Promise<void>
}

/** What becomes of a request whose chance is below a number: 18 of a hundred fail. */
const FAULTS: readonly (readonly [upTo: number, react: (response: ServerResponse) => void])[] = [
  [0.08, (response) => response.writeHead(500).end('out of order')],
  [0.1, (response) => response.writeHead(503, { 'retry-after': '2' }).end()],
  [0.17, (response) => response.destroy()],
  [0.18, () => undefined],
]
/** It is gone for a tenth of the time: connections are refused. */
const UP_MS = 900
const DOWN_MS = 100

interface Sent {
  readonly id: string
  readonly data: { readonly sequence: string; readonly loan?: { readonly id: string } }
}

/** Starts the receiver on a port of this machine. */
export async function startUnreliableReceiver(): Promise<UnreliableReceiver> {
  const times = new Map<string, number>()
  const latest = new Map<string, number>()
  let webhook: Webhook | undefined
  let [requests, disordered, unsigned] = [0, 0, 0]

  const take = ({ id, data }: Sent) => {
    const before = times.get(id) ?? 0
    times.set(id, before + 1)
    if (before > 0 || data.loan === undefined) return
    const sequence = Number(data.sequence)
    if (sequence < (latest.get(data.loan.id) ?? 0)) disordered++
    else latest.set(data.loan.id, sequence)
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests++
      const text = Buffer.concat(chunks).toString('utf8')
      if (!isSigned(webhook, text, request.headers as Record<string, string>)) unsigned++
      const chance = Math.random()
      const fault = FAULTS.find(([upTo]) => chance < upTo)
      if (fault) return fault[1](response)
      take(JSON.parse(text) as Sent)
      response.writeHead(204).end()
    })
    request.on('error', () => undefined)
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  let timer = setTimeout(function down() {
    server.close()
    server.closeAllConnections()
    timer = setTimeout(async () => {
      await listen(server, port)
      timer = setTimeout(down, UP_MS)
    }, DOWN_MS)
  }, UP_MS)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    expect: (secret) => {
      webhook = new Webhook(secret)
    },
    counts: () => ({
      ...{ requests, disordered, unsigned, taken: times.size },
      twice: [...times.values()].filter((count) => count > 1).length,
    }),
    async close() {
      clearTimeout(timer)
      server.closeAllConnections()
      server.close()
    },
  }
}

const listen = (server: Server, port: number) =>
  new Promise<void>((done) => server.listen(port, '127.0.0.1', () => done()))

function isSigned(webhook: Webhook | undefined, text: string, headers: Record<string, string>): boolean {
  // The library reads the clock of the machine, and the senders hold another.
  const now = Date.now
  Date.now = () => Number(headers['webhook-timestamp']) * 1000
  try {
    webhook?.verify(text, headers)
    return webhook !== undefined
  } catch {
    return false
  } finally {
    Date.now = now
  }
}
