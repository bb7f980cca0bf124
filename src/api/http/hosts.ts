import type { IncomingMessage } from 'node:http'
import FindMyWay from 'find-my-way'
import type { Config } from '../../app/config.ts'
import { prefixOf, type Style } from '../style.ts'

/** Whether the peer at `address`, `hop` proxies away from us (0 is who called us), may speak for others. */
export type Trust = (address: string | undefined, hop: number) => boolean

/** Longest path parameter: an external id of 100 characters, each of up to four bytes, each byte percent-encoded to three. */
export const MAX_PARAM_LENGTH = 1_200

/** The paths that a style has, by pattern, whatever the method. */
export class Paths {
  readonly #router = FindMyWay<FindMyWay.HTTPVersion.V1>({ maxParamLength: MAX_PARAM_LENGTH })
  readonly #methods = new Map<string, Set<string>>()

  add(pattern: string, method: string | readonly string[]) {
    let methods = this.#methods.get(pattern)
    if (methods === undefined) {
      methods = new Set()
      this.#methods.set(pattern, methods)
      this.#router.on('GET', pattern, () => {}, methods)
    }
    for (const one of [method].flat()) methods.add(one)
  }

  /** The methods that a path takes; none where the style has no such path. */
  methodsOf(path: string): readonly string[] {
    const found = this.#router.find('GET', path)
    return found === null || !(found.store instanceof Set) ? [] : [...found.store]
  }
}

/** A style, the host it is called by (lower case, no port), and what it turned out to serve. */
export interface Mounted {
  readonly host: string
  readonly style: Style
  readonly paths: Paths
}

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)$/i

/**
 * Turns a request into a target inside the router: the prefix of the style that its host and path select, and its
 * path (contract 1.2). A host can name several styles, and one that no setting names stands for all of them; then a
 * path that one style has is that style's, and any other path is the chief style's.
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

/** Who speaks for several: the fallback style, or else the one that is not about tokens. */
const chiefOf = (several: readonly Mounted[], fallback: string): Mounted =>
  several.find(({ style }) => style.name === fallback) ??
  several.find(({ style }) => style.name !== 'auth') ??
  several[0]!

/**
 * The host called, in lower case and without its port. A trusted proxy's word goes first (the last entry is that of the
 * nearest proxy), then the target's own host (RFC 9112 3.2.2), then the header.
 */
function hostNamed(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  authority: string | undefined,
  trusts: Trust,
) {
  const forwarded = headers['x-forwarded-host']
  const said =
    forwarded !== undefined && trusts(socket?.remoteAddress, 0)
      ? String(forwarded).split(',').at(-1)!
      : (authority ?? headers.host ?? '')
  const [, host = ''] = /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*)/.exec(said.trim().toLowerCase()) ?? []
  return host.endsWith('.') ? host.slice(0, -1) : host
}
