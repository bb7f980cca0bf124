import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { LendingError, type NamedFault } from '../../domain/errors.ts'
import { JsonFault, JsonNumber, type RawJson, readJson, wireSource } from '../../toolbox/json.ts'

export { JsonNumber, type RawJson, wireSource } from '../../toolbox/json.ts'

/** Returns an integer of any size as a JSON number, exact to the last digit. */
export const wireInteger = (value: bigint): RawJson => wireSource(value.toString())

/**
 * Parses JSON text; every number becomes a `JsonNumber`.
 * @param subject names the text in the message of an error
 * @throws InvalidRequest with the fault, its line and column; also for a key that is given twice in one object
 */
export function parseJson(text: string, subject = 'the body'): unknown {
  try {
    return readJson(text, subject)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    const { message, twice } = error
    throw new InvalidRequest(message, twice === undefined ? [] : [{ field: twice, message }])
  }
}

/** A field at fault, named as in the request. */
export interface RequestFault extends NamedFault {
  /** True when no schema has such a field. */
  readonly isUnknown?: true
}

/** A request that is not valid. The fields in `details` are named as in the request. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly details: readonly RequestFault[]

  constructor(message: string, details: readonly RequestFault[] = []) {
    super(message)
    this.details = details
  }
}

/** Refuses a compressed body (RFC 9110 15.5.16), which would otherwise be refused as bad JSON. */
export function refuseEncodings(app: FastifyInstance) {
  app.addHook('preParsing', ({ headers, is404 }, reply, _, done) => {
    const encoding = headers['content-encoding']
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    if (is404 || !hasBody || encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return done()
    reply.header('accept-encoding', 'identity')
    throw new LendingError('unsupported_media_type', 'the body must not be compressed: no Content-Encoding is read')
  })
}

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i

/** Accepts JSON objects in UTF-8 as bodies, and nothing else. An empty body counts as none. */
export function acceptJson(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, payload, done) => {
    // For a path that does not exist, the path is at fault, whatever the body.
    if (request.is404 || payload.length === 0) return done(null, undefined)
    const [, charset = 'utf-8'] = CHARSET.exec(request.headers['content-type'] ?? '') ?? []
    if (!/^utf-?8$/i.test(charset))
      return done(Object.assign(new Error('charset'), { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', statusCode: 415 }))
    const body = payload as Buffer
    if (!isUtf8(body)) return done(new InvalidRequest('the body is not valid UTF-8'))
    try {
      const text = body.toString('utf8')
      const value = parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
      if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber)
        throw new InvalidRequest('the body must be a JSON object')
      done(null, value)
    } catch (error) {
      done(error as Error)
    }
  })
}
