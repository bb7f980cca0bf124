import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STATEMENT_LIMITS } from '../../../src/services/walletStatements/limits.ts'
import { boundsOf, PROGRAM } from '../../../src/services/walletStatements/reader.ts'
import { fictionalStatement, statementPdf } from '../../support/statementPdf.ts'

const ISOLATION = new URL('../../../src/services/walletStatements/isolation.ts', import.meta.url).href

let server: Server
let port: number
let reached = 0
beforeAll(async () => {
  server = createServer((socket) => {
    reached++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as { port: number }).port
})
afterAll(() => server.close())

/** Ways out, each an expression that is a promise; somebody listens on `port`, whose URL is `at`. */
const WAYS: Readonly<Record<string, string>> = {
  fetch: 'fetch(at)',
  'fetch of before': 'before.fetch(at)',
  WebSocket: 'opened(new WebSocket(at))',
  'WebSocket of before': 'opened(new before.WebSocket(at))',
  'a connection': `import('node:net').then((net) => opened(net.connect(port, '127.0.0.1')))`,
  'a connection, by a module of before': `opened(before.net.connect(port, '127.0.0.1'))`,
  'a connection, by a class of before': `opened(new before.net.Socket().connect({ port, host: '127.0.0.1' }))`,
  'a local socket': `opened(before.net.connect('/run/nothing.sock'))`,
  'a server': `opened(before.net.createServer().listen(0, '127.0.0.1'), 'listening')`,
  HTTP: `opened(before.http.get({ port, host: '127.0.0.1' }))`,
  HTTPS: `opened(before.https.get({ port, host: '127.0.0.1' }))`,
  'HTTP/2': 'opened(before.http2.connect(at))',
  TLS: `opened(before.tls.connect({ port, host: '127.0.0.1' }))`,
  'a datagram': `sent(before.dgram.createSocket('udp4'))`,
  'a name': `before.dns.promises.lookup('localhost')`,
  'a name, by a callback': `new Promise((resolve, reject) => before.dns.lookup('localhost', (error) => (error ? reject(error) : resolve())))`,
  'a name, looked up at a server': `new before.dns.promises.Resolver().resolve4('example.com')`,
  'an address': `before.dns.promises.reverse('127.0.0.1')`,
  require: `Promise.resolve(createRequire(import.meta.url)('net'))`,
  'require by its other name': `Promise.resolve(createRequire(import.meta.url)('node:_http_client'))`,
  getBuiltinModule: `opened(process.getBuiltinModule('node:net').connect(port, '127.0.0.1'))`,
  'the loader itself': `opened(Module._load('net').connect(port, '127.0.0.1'))`,
  'a binding': `Promise.resolve(process.binding('tcp_wrap'))`,
  'a thread of its own': `opened(new before.workerThreads.Worker('', { eval: true, execArgv: [] }), 'online')`,
  'a process of its own': `opened(before.childProcess.spawn(process.execPath, ['-e', '']), 'spawn')`,
  inspector: `Promise.resolve(before.inspector.open(0))`,
}

/** A program that loads what it may, is cut off, and tries every way; it prints what became of each. */
const PROGRAM_THAT_TRIES = `
  import Module, { createRequire } from 'node:module'
  const names = { net: 'net', tls: 'tls', http: 'http', https: 'https', http2: 'http2', dns: 'dns', dgram: 'dgram', inspector: 'inspector',
    workerThreads: 'worker_threads', childProcess: 'child_process' }
  const before = { fetch, WebSocket, ...Object.fromEntries(Object.entries(names).map(([key, name]) => [key, process.getBuiltinModule(name)])) }
  const port = Number(process.argv[1])
  const at = 'http://127.0.0.1:' + port + '/'
  const opened = (emitter, event = 'connect') => new Promise((resolve, reject) => {
    const on = (name, then) => emitter.on ? emitter.on(name, then) : emitter.addEventListener(name, then)
    on(emitter.on ? event : 'open', () => resolve())
    on('error', (error) => reject(error.error ?? error))
  })
  const sent = (socket) => new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.send('x', port, '127.0.0.1', (error) => error ? reject(error) : resolve())
  })
  const cutOff = process.argv[2] === 'cut off'
  if (cutOff) (await import(${JSON.stringify(ISOLATION)})).denyNetwork()
  const ways = { ${Object.entries(WAYS)
    .map(([name, expression]) => `${JSON.stringify(name)}: async () => ${expression}`)
    .join(',\n')} }
  for (const [name, way] of Object.entries(ways)) {
    const became = await Promise.race([way().then(() => 'done', (error) => 'refused: ' + (error.cause?.message ?? error.message)),
      new Promise((resolve) => setTimeout(resolve, 5_000, 'nothing'))])
    process.stdout.write(JSON.stringify([name, became]) + '\\n')
  }
  process.exit(0)`

async function tryAll(how: 'cut off' | 'free', bounds: readonly string[]): Promise<Record<string, string>> {
  const args = [...bounds, '--input-type=module', '-e', PROGRAM_THAT_TRIES, String(port), how]
  const child = spawn(process.execPath, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (how === 'cut off') expect(err).toBe('')
  return Object.fromEntries(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
}

describe('the reader of statements', () => {
  it('has no way to the network, whatever it loaded before and loads after', async () => {
    reached = 0
    const became = await tryAll('cut off', boundsOf(STATEMENT_LIMITS.memory))
    expect(Object.keys(became)).toEqual(Object.keys(WAYS))
    for (const [way, what] of Object.entries(became))
      expect([way, what]).toEqual([way, expect.stringMatching(/^refused: /)])
    expect(reached).toBe(0)
  })

  it('would have one: the same ways lead there for a program that is not cut off', async () => {
    reached = 0
    const became = await tryAll('free', ['--no-warnings'])
    const through = [
      'a connection',
      'a server',
      'a datagram',
      'a name',
      'require',
      'a thread of its own',
      'a process of its own',
    ]
    for (const way of through) expect([way, became[way]]).toEqual([way, 'done'])
    expect(reached).toBeGreaterThan(5)
  })

  it('is cut off before it loads the library that takes the file apart', async () => {
    // In place of the library: a module that tries, and writes the result on standard error.
    const library = `
      const tried = await Promise.allSettled([(async () => fetch('http://127.0.0.1:${port}/'))(), import('node:net'), import('node:worker_threads')])
      process.stderr.write(tried.map(({ status }) => status).join(' '))
      export const getDocumentProxy = () => Promise.reject(new Error('not a library'))`
    const swap = `
      import { registerHooks } from 'node:module'
      registerHooks({
        resolve: (specifier, context, next) => specifier === 'unpdf' ? { url: 'swapped:unpdf', format: 'module', shortCircuit: true } : next(specifier, context),
        load: (url, context, next) => url === 'swapped:unpdf' ? { format: 'module', shortCircuit: true, source: ${JSON.stringify(library)} } : next(url, context),
      })`
    const { pages, characters, milliseconds, patience, memory } = STATEMENT_LIMITS
    const task = {
      limits: { pages, characters, milliseconds, patience, memory },
      currency: { code: 'TZS', decimals: 2 },
    }
    const preload = `--import=data:text/javascript,${encodeURIComponent(swap)}`
    reached = 0
    const child = spawn(process.execPath, [...boundsOf(memory), preload, PROGRAM, JSON.stringify(task)], {
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    })
    child.stdin!.end(await statementPdf(fictionalStatement()))
    expect(await text(child.stderr!)).toBe('rejected rejected rejected')
    expect(reached).toBe(0)
    expect(pathToFileURL(PROGRAM).href).toBe(new URL('worker.ts', ISOLATION).href)
  })
})
