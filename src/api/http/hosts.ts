import type { IncomingMessage } from 'node:http'
import FindMyWay from 'find-my-way'
import type { Config } from '../../app/config.ts'
import { prefixOf, type Style } from '../style.ts'

/**
 * Returns whether the peer at `address`, `hop` proxies away from the service (0 connected to it), may name other
 * addresses.
 */
export type Trust = (address: string | undefined, hop: number) => boolean

/** The longest path parameter: an external id of 100 characters of up to four bytes, each percent-encoded to three. */
export const MAX_PARAM_LENGTH = 1_200

/** The paths of a style by pattern, whatever the method. */
export class Paths {
  readonly #methods = new Map<string, Set<string>>()
  /** Made when a path is first looked for: most requests are of paths that are there, and look for none. */
  #router: FindMyWay.Instance<FindMyWay.HTTPVersion.V1> | undefined

  add(pattern: string, method: string | readonly string[]) {
    let methods = this.#methods.get(pattern)
    if (methods === undefined) {
      methods = new Set()
      this.#methods.set(pattern, methods)
      this.#router = undefined
    }
    for (const one of [method].flat()) methods.add(one)
  }

  /** Returns the methods that a path takes; none when the style has no such path. */
  methodsOf(path: string): readonly string[] {
    this.#router ??= routerOf(this.#methods)
    const found = this.#router.find('GET', path)
    return found === null || !(found.store instanceof Set) ? [] : [...found.store]
  }
}

/** Returns a router that finds the methods of a path. */
function routerOf(patterns: ReadonlyMap<string, Set<string>>): FindMyWay.Instance<FindMyWay.HTTPVersion.V1> {
  const router = FindMyWay<FindMyWay.HTTPVersion.V1>({ maxParamLength: MAX_PARAM_LENGTH })
  for (const [pattern, methods] of patterns) router.on('GET', pattern, () => {}, methods)
  return router
}

/** A style, the host that it is called by (lower case, no port), and the paths that it serves. */
export interface Mounted {
  readonly host: string
  readonly style: Style
  readonly paths: Paths
}

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)$/i

/**
 * Turns a request into a target inside the router: the prefix of the style that its host and path select, and its path
 * (contract 1.2). Several styles may share a host, and a host that no setting names stands for all of them; then a path
 * of one style alone selects that style, and any other path the default style.
 */
export function chooseStyle(mounted: readonly Mounted[], fallback: Config['fallbackStyle'], trusts: Trust) {
  const byHost = Map.groupBy(mounted, ({ host }) => host)
  const everyone = fallback === 'none' ? [] : mounted
  return (request: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>): string => {
    const target = request.url ?? '/'
    const [, authority, rest = ''] = ABSOLUTE_FORM.exec(target) ?? [undefined, undefined, target]
    const path = rest.startsWith('/') ? rest : `/${rest}`
    const candidates = byHost.get(hostNamed(request, authority, trusts)) ?? everyone
    return prefixOf(select(candidates, path, fallback)) + path
  }
}

function select(candidates: readonly Mounted[], path: string, fallback: string) {
  const [only] = candidates
  if (only === undefined) return 'none'
  if (candidates.length === 1) return only.style.name
  const having = candidates.filter(({ paths }) => paths.methodsOf(path).length > 0)
  if (having.length === 1 && having[0]) return having[0].style.name
  return chiefOf(having.length > 0 ? having : candidates, fallback).style.name
}

/** Returns the style that answers for several: the fallback style, or else the first that is not the auth style. */
const chiefOf = (several: readonly Mounted[], fallback: string): Mounted =>
  several.find(({ style }) => style.name === fallback) ??
  several.find(({ style }) => style.name !== 'auth') ??
  several[0]!

/**
 * Returns the host that the client called, in lower case and without its port: from a trusted proxy's header (the last
 * entry is that of the nearest proxy), else the target's own host (RFC 9112 3.2.2), else the Host header.
 */
function hostNamed(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  authority: string | undefined,
  trusts: Trust,
) {
  const forwarded = headers['x-forwarded-host']
  const named =
    forwarded !== undefined && trusts(socket?.remoteAddress, 0)
      ? String(forwarded).split(',').at(-1)!
      : (authority ?? headers.host ?? '')
  const [, host = ''] = /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*)/.exec(named.trim().toLowerCase()) ?? []
  return host.endsWith('.') ? host.slice(0, -1) : host
}
