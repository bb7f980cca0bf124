import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { LendingError } from '../../domain/errors.ts'

/** The refusals of requests that a port hands to an app which is not that of their book. */
const refusals = new WeakMap<IncomingMessage, LendingError>()

/** Has the app to which a request is handed refuse it, in the words of its style. */
export function refuseHanded(request: IncomingMessage, refusal: LendingError): void {
  refusals.set(request, refusal)
}

/** Refuses what a port has handed to this app although it is not that of its book; called before the limits of requests are added. */
export function refuseHandedOver(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw, routeOptions }) => {
    const refusal = refusals.get(raw)
    if (refusal && routeOptions.config.vital !== true) throw refusal
  })
}
