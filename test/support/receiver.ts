import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** An event as it is sent, with what tests read of it. */
export interface SentEvent {
  readonly id: string
  readonly type: string
  readonly data: { readonly sequence: string; readonly loanVersion: number; readonly loan: { readonly id: string } }
}

/** A delivery as a receiver got it. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: SentEvent
  readonly at: number
}

/** What a receiver does with a delivery: the status that it answers, or an act of its own on the response. */
export type Reaction = number | ((response: ServerResponse) => void)

/** A receiver of webhooks on this machine. */
export interface Receiver {
  readonly url: string
  /** All deliveries, in the order in which they came. */
  readonly received: Received[]
  /** Those that were answered with success. */
  readonly taken: Received[]
  /** Decides what becomes of a delivery; 204 at first. */
  react: (delivery: Received) => Reaction
  close(): Promise<void>
}

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const delivery = { headers: request.headers, text, body: JSON.parse(text) as SentEvent, at: performance.now() }
      receiver.received.push(delivery)
      const reaction = receiver.react(delivery)
      if (typeof reaction === 'function') return reaction(response)
      if (reaction >= 200 && reaction < 300) receiver.taken.push(delivery)
      response.writeHead(reaction).end()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    taken: [],
    react: () => 204,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return receiver
}

/** Verifies a delivery as a receiver should; its clock is that of the delivery. @throws Error where it is not genuine */
export function verify(secret: string, { text, headers }: Pick<Received, 'text' | 'headers'>): void {
  // The library reads the clock of the machine; a test holds another.
  const now = Date.now
  Date.now = () => Number(headers['webhook-timestamp']) * 1000
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>)
  } finally {
    Date.now = now
  }
}

/** Returns the numbers of the events of deliveries. */
export const sequencesOf = (deliveries: readonly Received[]): number[] =>
  deliveries.map(({ body }) => Number(body.data.sequence))
