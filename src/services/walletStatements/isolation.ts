import dgram from 'node:dgram'
import dns from 'node:dns'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import workerThreads from 'node:worker_threads'

/** The modules of Node with which a program reaches a network, or starts another program without these limits. */
const DENIED = new Set([
  'child_process',
  'cluster',
  'dgram',
  'dns',
  'dns/promises',
  'http',
  'http2',
  'https',
  'inspector',
  'net',
  'tls',
  'inspector/promises',
  'repl',
  'worker_threads',
  '_http_agent',
  '_http_client',
  '_http_common',
  '_http_incoming',
  '_http_outgoing',
  '_http_server',
  '_tls_common',
  '_tls_wrap',
])
const GLOBALS = ['fetch', 'WebSocket', 'EventSource']
/** The functions that reach Node's internals without a module. */
const BINDINGS = ['binding', '_linkedBinding']

const isDenied = (specifier: string) => DENIED.has(specifier.replace(/^node:/, ''))

/** Throws the error of Node's permission model. */
function deny(): never {
  throw Object.assign(new Error('the statement reader has no network'), { code: 'ERR_ACCESS_DENIED' })
}

/**
 * Removes the network from this process permanently: no connection, no server, no datagram, no name look-up, and no
 * thread that would have them. Call it before any code that reads a hostile file is loaded.
 *
 * The permission model of Node 24 limits files, processes and addons, but not the network as that of Node 25 does. So
 * the few functions that every use of the network needs are replaced, and module names and globals are refused to code
 * that is loaded later. A namespace of the system would need rights that a container usually does not have.
 */
export function denyNetwork(): void {
  // Node's streams for descriptors are sockets, and are made when they are first used.
  void [process.stdin, process.stderr]
  replace(net.Socket.prototype, ['connect'])
  replace(net.Server.prototype, ['listen'])
  replace(dgram.Socket.prototype, ['addMembership', 'bind', 'connect', 'send', 'sendto'])
  for (const lookUps of [dns, dns.promises]) {
    replace(lookUps.Resolver.prototype, functionsOf(lookUps.Resolver.prototype))
    replace(lookUps, functionsOf(lookUps))
  }
  replace(workerThreads, ['Worker'])
  syncBuiltinESMExports()
  replace(process, BINDINGS)
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name)

  const { getBuiltinModule } = process
  fix(process, 'getBuiltinModule', (name: string) => (isDenied(name) ? undefined : getBuiltinModule(name)))
  registerHooks({ resolve: (specifier, context, next) => (isDenied(specifier) ? deny() : next(specifier, context)) })
}

const functionsOf = (of: object): string[] =>
  Object.getOwnPropertyNames(of).filter((name) => name !== 'constructor' && typeof Reflect.get(of, name) === 'function')

function replace(on: object, names: readonly string[]): void {
  for (const name of names) fix(on, name, deny)
}

const fix = (on: object, name: string, value: unknown) =>
  Object.defineProperty(on, name, { value, writable: false, configurable: false })
