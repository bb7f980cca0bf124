import { pipeline, type Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer holds a secret. Next to text of the caller's, its length would tell of it once it is compressed. */
    secret?: boolean
  }
}

/** Bytes below which an answer is sent as it is: a packet holds it either way. */
const LEAST_BYTES = 1_024

/**
 * Bytes up to which an answer is compressed at once, in a millisecond at most. What waits for another thread outlives the
 * collections of young objects, and to collect it later costs ten times as much as to compress it.
 */
const MOST_AT_ONCE = 512 * 1_024

/** Bytes that one call of the compressor writes at a time. */
const CHUNK_BYTES = 64 * 1_024

const { BROTLI_PARAM_QUALITY, ZSTD_c_compressionLevel } = zlib.constants

type Callback = (error: Error | null, compressed: Buffer) => void

/** A way to compress: a whole answer at once, a large one in another thread, and a file as it is read. */
interface Encoding {
  readonly atOnce: (bytes: Buffer) => Buffer
  readonly inThread: (bytes: Buffer, done: Callback) => void
  readonly stream: () => NodeJS.ReadWriteStream & Readable
}

const ZSTD = { chunkSize: CHUNK_BYTES, params: { [ZSTD_c_compressionLevel]: 1 } }
const BROTLI = { chunkSize: CHUNK_BYTES, params: { [BROTLI_PARAM_QUALITY]: 1 } }
const GZIP = { chunkSize: CHUNK_BYTES, level: 3 }

/**
 * The encodings by name, the best first: by the time and the bytes of a page of loans. Higher levels take two to three
 * times as long for a tenth fewer bytes.
 */
const ENCODINGS: Readonly<Record<string, Encoding>> = {
  zstd: {
    atOnce: (bytes) => zlib.zstdCompressSync(bytes, ZSTD),
    inThread: (bytes, done) => zlib.zstdCompress(bytes, ZSTD, done),
    stream: () => zlib.createZstdCompress(ZSTD),
  },
  br: {
    atOnce: (bytes) => zlib.brotliCompressSync(bytes, BROTLI),
    inThread: (bytes, done) => zlib.brotliCompress(bytes, BROTLI, done),
    stream: () => zlib.createBrotliCompress(BROTLI),
  },
  gzip: {
    atOnce: (bytes) => zlib.gzipSync(bytes, GZIP),
    inThread: (bytes, done) => zlib.gzip(bytes, GZIP, done),
    stream: () => zlib.createGzip(GZIP),
  },
}

const NAMES = Object.keys(ENCODINGS)

/** For a client that says it takes any encoding: the one that every client can read. */
const ANY = ['gzip']

/**
 * Compresses the answers of the routes that are added afterwards, where the client accepts it. An answer is compressed
 * as a whole before its first byte is sent, so that the limits on unread answers count what waits. Files of the
 * reference, which are read as they are sent, are compressed likewise.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.secret || route.config?.vital) return
    // After the hooks of its scope: what is kept for an Idempotency-Key is the answer as it was before.
    route.onSend = [route.onSend ?? [], compress].flat() as onSendHookHandler[]
  })
}

const compress: onSendHookHandler = (request, reply, payload, done) => {
  const bytes = lengthOf(payload)
  if (bytes < LEAST_BYTES || reply.hasHeader('content-encoding') || request.method === 'HEAD') return done()
  addVary(reply)
  const name = encodingFor(request, reply)
  const encoding = name === undefined ? undefined : ENCODINGS[name]
  if (name === undefined || encoding === undefined) return done()
  if (isStream(payload)) {
    mark(reply, name)
    // The stream ends with its reader: a client that hangs up closes the file.
    return done(
      null,
      pipeline(payload, encoding.stream(), () => undefined),
    )
  }
  const plain = Buffer.isBuffer(payload) ? payload : Buffer.from(payload as string)
  const send: Callback = (error, compressed) => {
    if (error) return done(error)
    mark(reply, name)
    done(null, compressed)
  }
  if (plain.length > MOST_AT_ONCE) encoding.inThread(plain, send)
  else send(null, encoding.atOnce(plain))
}

const isStream = (payload: unknown): payload is Readable =>
  typeof payload === 'object' && payload !== null && 'pipe' in payload

/** Returns the length of a payload; of a file, whose length is not known here, more than any. */
function lengthOf(payload: unknown): number {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload.length
  return isStream(payload) ? Number.POSITIVE_INFINITY : 0
}

/** Returns the name of the best encoding that the client accepts; undefined for none, and for a part of a file. */
function encodingFor({ headers }: FastifyRequest, { statusCode }: FastifyReply): string | undefined {
  const accepted = headers['accept-encoding']
  if (accepted === undefined || headers.range !== undefined || statusCode === 206) return undefined
  const any = String(accepted).includes('*')
  return negotiate(String(accepted), any ? ANY : NAMES) ?? undefined
}

function mark(reply: FastifyReply, encoding: string): void {
  reply.header('content-encoding', encoding)
  reply.removeHeader('content-length')
}

/** Says that the answer depends on what the client accepts. */
function addVary(reply: FastifyReply): void {
  const others = reply.getHeader('vary')
  reply.header('vary', others === undefined ? 'accept-encoding' : `${others}, accept-encoding`)
}
