import { createHash } from 'node:crypto'
import multipart, { type MultipartValue } from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { LendingError } from '../../domain/errors.ts'
import { createGate, type Gate, type GateBounds, holderOf } from '../../toolbox/gate.ts'
import { whenClosed } from '../http/request.ts'
import type { StyleApp } from '../style.ts'
import { InvalidRequest } from './json.ts'

/** A file of a multipart body, held in memory for as long as the request lasts. */
export class Upload {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
  /** The digest of the file, by which requests are compared: two are the same when their bytes are. */
  toJSON(): { sha256: string } {
    return { sha256: createHash('sha256').update(this.bytes).digest('hex') }
  }
}

/** A field of a multipart body that is a file. */
export const upload = (meta: { readonly description: string; readonly contentMediaType: string }) =>
  z
    .unknown()
    .transform((value, context): Upload => {
      if (value instanceof Upload) return value
      const message = value === undefined ? 'is required' : 'must be a file: its part needs a filename'
      context.issues.push({ code: 'custom', message, input: value })
      return z.NEVER
    })
    .meta({ type: 'string', format: 'binary', ...meta })

/** Parts of a body; more than any request needs, and fewer than an attack sends. */
const MOST_PARTS = 20
const LONGEST_TEXT = 4_096
const LONGEST_NAME = 100
const MIB = 1024 * 1024
/** Bytes of a body besides its file. */
const ROOM = MIB
/**
 * The places of files that are being sent: of all clients, of one organization and of one account. Memory for uploads is this
 * many files. None waits.
 */
export const SENDING_PLACES: GateBounds = {
  atOnce: 32,
  ofGroup: 6,
  ofMember: 4,
  refusal: (full) => `too many files are being sent at once${BY[full]}`,
  againSeconds: 5,
}
const BY = { all: '', group: ' by this organization', member: ' by this account' } as const

/**
 * Makes the routes of the scope take `multipart/form-data` and nothing else; their schemas check the parts as a body.
 * The scope is its own, because elsewhere only JSON is a body.
 * @param bytes the largest size of a file
 */
export function acceptUploads(app: StyleApp, { bytes }: { readonly bytes: number }): void {
  app.register(multipart, {
    limits: {
      fileSize: bytes,
      files: 1,
      parts: MOST_PARTS,
      fieldSize: LONGEST_TEXT,
      fieldNameSize: LONGEST_NAME,
      headerPairs: 20,
    },
  })

  const sending = createGate(SENDING_PLACES)

  app.addHook('preParsing', async (request, reply) => {
    if (request.method !== 'POST' || request.is404) return
    enterUntilClosed(request, reply, sending)
    if (!/^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
      throw new LendingError('unsupported_media_type', 'the content type must be multipart/form-data')
    if (Number(request.headers['content-length'] ?? 0) > bytes + ROOM) throw tooLarge(bytes)
  })

  app.addHook('preValidation', async (request) => {
    if (request.method !== 'POST' || request.is404) return
    try {
      request.body = await readParts(request)
    } catch (error) {
      throw toRefusal(error, bytes)
    }
  })
}

/** Takes a place that is free until the request is over. @throws LendingError where none is free, and where the caller has gone */
export function enterUntilClosed(request: FastifyRequest, reply: FastifyReply, gate: Gate): void {
  // A request that is closed already emits no close event, and would be counted for ever.
  if (reply.raw.destroyed) throw hungUp()
  whenClosed(request, reply, gate.enter(holderOf(request.caller)))
}

const hungUp = () => new LendingError('aborted', 'the caller did not wait for the answer')

/** Returns a signal that aborts when the client hangs up before the answer. */
export function endOf({ raw }: FastifyReply): AbortSignal {
  if (raw.destroyed) return AbortSignal.abort(hungUp())
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(hungUp())
  })
  return gone.signal
}

const tooLarge = (bytes: number) =>
  new LendingError('payload_too_large', `the file is larger than ${bytes / MIB} MiB, which is the most that is read`)

async function readParts(request: FastifyRequest): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {}
  for await (const part of request.parts()) {
    const name = part.fieldname
    if (name === undefined || name === '') throw new InvalidRequest('a part of the body has no name')
    if (Object.hasOwn(body, name))
      throw new InvalidRequest('is given twice', [{ field: name, message: 'is given twice' }])
    body[name] = part.type === 'file' ? new Upload(await part.toBuffer()) : textOf(name, part)
  }
  return body
}

function textOf(name: string, { value, valueTruncated }: MultipartValue): unknown {
  if (valueTruncated) throw new InvalidRequest('is too long', [{ field: name, message: 'is too long' }])
  return value
}

/** Returns an error of the multipart parser in the service's words; other errors are returned unchanged. */
function toRefusal(error: unknown, bytes: number): Error {
  const { name, code, message } = error as Error & { code?: string }
  switch (code) {
    case 'FST_REQ_FILE_TOO_LARGE':
      return tooLarge(bytes)
    case 'FST_FILES_LIMIT':
      return new InvalidRequest('the body has more than one file')
    case 'FST_PARTS_LIMIT':
      return new InvalidRequest(`the body has more than ${MOST_PARTS} parts`)
    case 'FST_PROTO_VIOLATION':
      return new InvalidRequest('a part of the body has a name that no field has')
    case 'FST_INVALID_JSON_FIELD_ERROR':
      return new InvalidRequest('a part of the body says that it is JSON, and is not')
    default:
      // Errors of the parser have neither a code nor a name of their own.
      return name === 'Error' ? new InvalidRequest(`the body is not multipart/form-data: ${message}`) : (error as Error)
  }
}
