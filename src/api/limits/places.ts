import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import { networkOf } from '../../services/access/network.ts'
import type { Listener } from '../../services/listener.ts'
import { Tally } from '../../services/tally.ts'
import { whenClosed } from '../http/whenClosed.ts'

/** Shares of all places in work that one holder may have. */
const SHARES = { address: 2, account: 3, organization: 2 } as const

type Holder = keyof typeof SHARES

const AGAIN_SECONDS = 1

/** The place that a request holds: its address's until its caller is known, then its account's. */
interface Place {
  address: string | undefined
  account: number | undefined
  organization: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    place: Place | undefined
  }
}

/**
 * Limits each address without credentials, each account and each organization to its share of the places in work, so
 * that no one of them can take all. A request over the share is refused at once; health checks are always answered.
 */
export function sharePlaces(app: FastifyInstance, { maxInFlight }: { maxInFlight: number }, listener: Listener): void {
  const addresses = new Tally<string>()
  const accounts = new Tally<number>()
  const organizations = new Tally<number>()

  const requireShare = (holder: Holder, held: number) => {
    const share = Math.ceil(maxInFlight / SHARES[holder])
    if (held <= share) return
    listener.shed('share')
    const message = `this ${holder} has ${share} requests in work, which is its share; try again`
    throw new LendingError('resource_exhausted', message, [], AGAIN_SECONDS)
  }

  const leave = (place: Place) => {
    if (place.address !== undefined) addresses.add(place.address, -1)
    if (place.account !== undefined) accounts.add(place.account, -1)
    if (place.organization !== undefined) organizations.add(place.organization, -1)
    place.address = place.account = place.organization = undefined
  }

  app.decorateRequest('place', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.vital) return done()
    const address = networkOf(request.ip)
    const place: Place = { address, account: undefined, organization: undefined }
    request.place = place
    whenClosed(request, reply, () => leave(place))
    requireShare('address', addresses.add(address, 1))
    done()
  })
  // After the hooks of the style, which identify the caller.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const { place } = request
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    if (!caller || place?.address === undefined) return done()
    leave(place)
    place.account = caller.accountId
    place.organization = caller.organizationId
    const held = { account: accounts.add(place.account, 1), organization: organizations.add(place.organization, 1) }
    requireShare('account', held.account)
    requireShare('organization', held.organization)
    done()
  })
}
