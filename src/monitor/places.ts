import type { FastifyInstance } from 'fastify'
import { whenClosed } from '../api/http/request.ts'
import { createPlaces, holderOf, type PlaceBounds } from '../services/places.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has places of its own, and takes none of the pages. */
    ownPlace?: boolean
  }
  interface FastifyRequest {
    /** Frees the place of the page that is being built; undefined before there is one. */
    leavePlace: (() => void) | undefined
  }
}

/** The longest rest of a place after a page. */
const MOST_REST_MS = 250

/**
 * The places of pages: a person has two at once, which is more than a browser asks for that loads a page. A place rests for as
 * long as its page took, so that one session leaves most of the process to others.
 */
const PAGE_PLACES: PlaceBounds = {
  atOnce: 8,
  ofGroup: 6,
  ofMember: 2,
  waiting: { all: 64, ofGroup: 32, ofMember: 8 },
  waitMs: 5_000,
  restMs: (tookMs) => Math.min(MOST_REST_MS, tookMs),
  refusal: 'too many pages are being made; try again',
  againSeconds: 1,
}

/** Builds the pages of people in places: each from when its person is known until it is built. */
export function placePages(app: FastifyInstance): void {
  const pages = createPlaces(PAGE_PLACES)
  app.decorateRequest('leavePlace', undefined)
  app.addHook('preHandler', async (request, reply) => {
    const { anybody, ownPlace } = request.routeOptions.config
    if (request.is404 || anybody === true || ownPlace === true) return
    const leave = await pages.take(holderOf(request.caller))
    request.leavePlace = leave
    // A connection that closed while the page waited emits no close event again.
    if (reply.raw.destroyed) leave()
    else whenClosed(request, reply, leave)
  })
  app.addHook('onSend', async (request) => request.leavePlace?.())
}
