import pg from 'pg'
import * as byHand from './byHand.ts'
import { serve } from './peer.ts'
import type { Ask } from './scenarios.ts'
import { measure, type Sample, type Slot } from './window.ts'

/** A slot without HTTP: straight to the database. */
export interface DriverSlot extends Slot {
  readonly databaseUrl: string
  readonly caller: byHand.Caller
}

const clients: pg.Client[] = []

/** The driver floor, in a process of its own: the floor's statements from plain connections in a loop. */
const duties = {
  async run(slot: DriverSlot): Promise<Sample> {
    while (clients.length < slot.connections) {
      const client = new pg.Client(slot.databaseUrl)
      client.on('error', () => undefined)
      await client.connect()
      clients.push(client)
    }
    return measure(slot, (connection, ask) => carryOut(clients[connection]!, slot.caller, ask))
  },
}

async function carryOut(client: pg.Client, caller: byHand.Caller, ask: Ask): Promise<void> {
  switch (ask.kind) {
    case 'repay':
      await byHand.repay(client, caller, ask.loan, ask.amount, ask.token)
      break
    case 'record':
      await byHand.repay(client, caller, ask.loan, ask.amount, String(ask.id))
      break
    case 'create':
      await byHand.create(client, caller, ask.customer, ask.principal, ask.externalId)
      break
    case 'read':
      await byHand.read(client, caller, ask.loan)
      break
    case 'list':
      await byHand.list(client, caller, ask.page)
      break
    case 'scorecard':
      await byHand.scorecard(client, caller, ask.customer)
      break
    case 'message':
    case 'token':
      throw new Error(`${ask.kind} is no statement`)
  }
}

export type DriverDuties = typeof duties

serve(duties)
