import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from '../../../domain/errors.ts'
import { adapterOf } from '../../../domain/payments/adapters.ts'
import { networkOf, withoutPort } from '../../../services/access/caller.ts'
import type { Deps } from '../../../services/deps.ts'
import { type Channel, channelOfSecret, secretHash } from '../../../services/payments/channels.ts'
import { LONGEST_MESSAGE } from '../../../services/payments/inbound/messageBody.ts'
import { keptHeaders, type Message, takeMessage, validateMessage } from '../../../services/payments/inbound/messages.ts'
import { signatureFault } from '../../../services/payments/inbound/signatures.ts'
import { createLru } from '../../../toolbox/lru.ts'
import { keepOutOfCaches } from '../../http/failure.ts'
import { inboundUrl } from './channels.wire.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The payment channel of a message. */
    channel: Channel | undefined
    /** The content type of a message, as its sender says it. */
    sentType: string | undefined
  }
}

/** The secrets that are remembered to have named a channel: their messages do not count as those of unknown secrets. */
const MOST_REMEMBERED = 10_000

/** The addresses that are remembered to have sent more unknown secrets than they may. */
const MOST_GUESSING = 10_000

/** One answer for an unknown secret, an old one, a disabled channel and a wrong address: the sender is not told which. */
const nothingThere = () => notFound('no such path')

/** Adds the addresses of payment channels, for providers: what knows the secret of one may send messages. */
export function inboundRoutes(app: FastifyInstance, deps: Deps): void {
  const remembered = createLru<string, true>(MOST_REMEMBERED)
  const guessing = createLru<string, true>(MOST_GUESSING)
  takeAnyBody(app)
  app.decorateRequest('channel', undefined)
  app.decorateRequest('sentType', undefined)

  app.addHook('onRequest', async (request, reply) => {
    keepOutOfCaches(reply)
    // A body is read as bytes, whatever its sender calls it.
    request.sentType = request.headers['content-type']
    request.headers['content-type'] = ANY
    const { secret } = request.params as { readonly secret: string }
    const hash = secretHash(secret)
    const network = networkOf(request.ip)
    const count = () => {
      guessing.set(network, true)
      app.countRequest('secret', network, request, reply)
      guessing.delete(network)
    }
    // Who has guessed too often is refused before anything is looked for; what any other sends counts once it was a guess.
    const isSuspect = !remembered.has(hash) && guessing.has(network)
    if (isSuspect) count()
    const channel = await channelOfSecret(deps, hash, withoutPort(request.ip))
    if (!channel) {
      remembered.delete(hash)
      if (!isSuspect) count()
      throw nothingThere()
    }
    remembered.set(hash, true)
    app.countRequest('channel', `${channel.organizationId}/${channel.id}`, request, reply)
    request.channel = channel
  })

  const options = {
    bodyLimit: LONGEST_MESSAGE,
    schema: { hide: true },
    config: { countsItself: true as const },
  }
  app.route({
    ...options,
    method: ['POST', 'PUT'],
    url: '/in/:secret',
    async handler(request, reply) {
      const { channel } = request
      const message = messageOf(request)
      const { secret } = request.params as { readonly secret: string }
      const fault = await signatureFault(deps.paymentBox, channel!, message, inboundUrl(deps.config, secret))
      const { type, body } = await takeMessage(deps, channel!, { ...message, signatureFault: fault })
      return reply.type(`${type}; charset=utf-8`).send(body)
    },
  })
  app.route({
    ...options,
    method: ['POST', 'PUT'],
    url: '/in/:secret/validate',
    async handler(request, reply) {
      const answer = await validateMessage(deps, request.channel!, messageOf(request))
      if (!answer) throw nothingThere()
      return reply.type(`${answer.type}; charset=utf-8`).send(answer.body)
    },
  })
}

const ANY = 'application/octet-stream'

/** Takes bodies of any content type, as bytes. */
function takeAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

const messageOf = ({ method, headers, body, channel, sentType }: FastifyRequest): Omit<Message, 'signatureFault'> => ({
  method,
  headers: keptHeaders(adapterOf(channel!), { ...headers, 'content-type': sentType }),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
})
