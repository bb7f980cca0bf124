import { isKeyTaken } from '../../db/audit/trail.ts'
import { insertMessages, type NewMessage } from '../../db/payments/inbox.ts'
import { insertPayments, type NewPayment } from '../../db/payments/payments.ts'
import type { Db } from '../../db/postgres/client.ts'
import { createBatcher, type Settled } from '../../db/queries/batcher.ts'
import type { Queries } from '../../db/queries/statement.ts'

/** The statements that payments share which arrive together. */
export interface PaymentBatches {
  /** Stores a payment. @returns false where its channel has one with its receipt */
  receive(payment: NewPayment): Promise<boolean>
  /** Keeps a message of a provider. */
  keep(message: NewMessage): Promise<void>
}

/** Payments, and messages, that are stored in one statement at most, and such statements under way at once. */
const MOST_TOGETHER = 200
const IN_FLIGHT = 2

/** Creates the batches of payments; there is one set of them in a process. */
export const createPaymentBatches = (db: Db): PaymentBatches => ({
  receive: createBatcher<NewPayment, boolean>({
    run: (items) => storeAll(db, items),
    most: MOST_TOGETHER,
    inFlight: IN_FLIGHT,
  }),
  keep: createBatcher<NewMessage, void>({
    async run(messages) {
      await insertMessages(db, messages)
      return messages.map(() => ({ result: undefined }))
    },
    most: MOST_TOGETHER,
    inFlight: IN_FLIGHT,
  }),
})

/** Stores payments together; each alone where the Idempotency-Key of one of them is taken. */
async function storeAll(db: Queries, items: readonly NewPayment[]): Promise<Settled<boolean>[]> {
  try {
    return (await insertPayments(db, items)).map((result) => ({ result }))
  } catch (error) {
    if (!isKeyTaken(error) || items.length === 1) return items.map(() => ({ error }))
  }
  const alone = await Promise.all(items.map((item) => storeAll(db, [item])))
  return alone.flat()
}
