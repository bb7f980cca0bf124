import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SECRET, startService } from '../../bench/startService.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { type Credentials, layLenders } from './lenders.ts'

export const STYLES = ['partner', 'record', 'auth'] as const
export type StyleName = (typeof STYLES)[number]

/** A running service with the demonstration data, and where its documents were written. */
export interface Tried {
  /** Of the database, as the owner of its tables. */
  readonly databaseUrl: string
  /** Base URLs on names that every resolver knows. The auth style answers on the partner's too. */
  readonly urls: Readonly<Record<StyleName, string>>
  /** The downloaded document of a style. */
  documentOf(style: StyleName): string
  /** The account of a lender that was asked for by name. */
  credentialsOf(lender: string): Credentials
}

/** What a trial needs of the service. */
export interface TriedOptions {
  /** The folder that gets the documents and the log of the service. */
  readonly into: string
  /** Names of lenders besides that of the demonstration data. */
  readonly lenders: readonly string[]
  /** Gets what ends each part, to be called in the reverse order, also where the start failed. */
  readonly closing: (() => unknown)[]
  readonly say: (text: string) => void
}

/** No rates: one account sends all requests of the trial. */
const SETTINGS = {
  SEED_DEMO: 'true',
  RECORDS_URL: 'http://localhost',
  RATE_LIMIT_ACCOUNT: '1000000000',
  RATE_LIMIT_ADDRESS: '1000000000',
}

/** The host by which each style is asked for its document. No setting names 127.0.0.1, which is the partner style then. */
const HOSTS: Readonly<Record<StyleName, string>> = {
  partner: 'api.localhost',
  record: 'localhost',
  auth: 'auth.localhost',
}

/** Starts Postgres and the service in a temporary directory, on free ports, and downloads the documents. */
export async function startTried({ into, lenders, closing, say }: TriedOptions): Promise<Tried> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-clients-'))
  closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  // As root, Postgres runs as another user, who has to get in.
  await chmod(directory, 0o755)
  const quiet = { debug: () => undefined, info: () => undefined, warn: say }
  const server = await startEmbedded({ directory: join(directory, 'data'), durable: false, log: quiet })
  closing.push(() => server.stop())
  await mkdir(into, { recursive: true })
  const log = join(into, 'service.log')
  const service = await startService('.', server.url, { processes: undefined, environment: SETTINGS, log })
  closing.push(() => service.stop())
  const credentials = await layLenders(server.url, SECRET, lenders)

  const documentOf = (style: StyleName) => join(into, `${style}.json`)
  for (const style of STYLES) await writeFile(documentOf(style), await download(service.port, HOSTS[style]))
  const onAddress = `http://127.0.0.1:${service.port}`
  return {
    databaseUrl: server.url,
    urls: { partner: onAddress, record: `http://localhost:${service.port}`, auth: onAddress },
    documentOf,
    credentialsOf: (lender) => credentials.get(lender)!,
  }
}

/** Returns the text of `/openapi.json` on a host. `fetch` cannot name another host than the one that it calls. */
function download(port: number, host: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = { host: `${host}:${port}` }
  const asked = request({ port, host: '127.0.0.1', path: '/openapi.json', headers }, async (answer) => {
    try {
      const text = (await answer.toArray()).join('')
      if (answer.statusCode !== 200) throw new Error(`${host} answered ${answer.statusCode} instead of its document`)
      resolve(text)
    } catch (error) {
      reject(error)
    }
  })
  asked.on('error', reject).end()
  return promise
}
