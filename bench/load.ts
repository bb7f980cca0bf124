import { HttpConnection } from './httpConnection.ts'
import { serve } from './peer.ts'
import { type Ask, type Book, type Credentials, toHttp } from './scenarios.ts'
import { measure, type Sample, type Slot } from './window.ts'

/** A slot over HTTP: where to, and as whom. */
export interface HttpSlot extends Slot {
  readonly port: number
  readonly credentials: Credentials
}

/** The load generator, in a process of its own. */
const duties = {
  /** Measures a slot over connections of its own. */
  async run(slot: HttpSlot): Promise<Sample> {
    const connections = Array.from({ length: slot.connections }, () => new HttpConnection(slot.port))
    const sample = await measure(slot, async (connection, ask) => {
      let open = connections[connection]!
      if (!open.isOpen) open = connections[connection] = new HttpConnection(slot.port)
      const { status, body } = await open
        .send(toHttp(ask, slot.credentials, slot.book.zone))
        .catch((error: unknown) => {
          // The others go on; this one gets a new connection.
          open.close()
          open = connections[connection] = new HttpConnection(slot.port)
          throw error
        })
      if (status !== 200) throw new Error(`${ask.kind} was answered ${status}: ${body.slice(0, 500)}`)
    })
    for (const connection of connections) connection.close()
    return sample
  },

  /** One request, and its answer in full. */
  async probe(asked: { port: number; ask: Ask; credentials: Credentials; book: Book }) {
    const connection = new HttpConnection(asked.port)
    try {
      return await connection.send(toHttp(asked.ask, asked.credentials, asked.book.zone), { keepBody: true })
    } finally {
      connection.close()
    }
  },
}

export type LoadDuties = typeof duties

serve(duties)
