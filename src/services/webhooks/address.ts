import { lookup as lookupByDns } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { invalidArgument } from '../../domain/errors.ts'
import { createGate } from '../../toolbox/gate.ts'
import { createSingleFlight } from '../../toolbox/singleFlight.ts'

/** Characters of a URL at most. */
export const LONGEST_URL = 2_000

/** All IPv6 addresses that are given out for the internet (RFC 4291); the registry has no other. */
const GIVEN_OUT = ipaddr.IPv6.parse('2000::')
const GIVEN_OUT_BITS = 3

/** Names that only a machine or its own network knows (RFC 6761, 6762, 8375); a name of the internet has a dot. */
const LOCAL_NAME = /^[^.]+\.?$|(^|\.)(localhost|local|internal|home\.arpa|localdomain)\.?$/i

/**
 * Returns whether an address is on the internet: not private, loopback, link-local, shared, multicast, reserved, for
 * documentation, and no IPv6 form that leads to an IPv4 address (mapped, 6to4, NAT64, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GIVEN_OUT, GIVEN_OUT_BITS)
}

/** Returns the address that the host of a URL is, without brackets; undefined for a name. */
export function addressIn(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return ipaddr.isValid(host) ? host : undefined
}

/** What a URL is called, for what is said of it. */
export interface UrlWords {
  readonly role: 'url' | 'issuer'
  readonly example: string
  readonly instead: string
}

const OF_ENDPOINT: UrlWords = {
  role: 'url',
  example: 'https://hooks.example.com/mkopo',
  instead: ': check the signature of a delivery instead',
}

/**
 * Reads the URL of an endpoint, or of a provider of identities; addresses of names are checked when they are looked up.
 * @param toPrivate whether `http:` and private addresses are allowed
 * @throws LendingError `invalid_argument`
 */
export function readEndpointUrl(text: string, toPrivate: boolean, of: UrlWords = OF_ENDPOINT): URL {
  const fault = (wording: string) => invalidArgument(of.role, wording)
  if (text.length > LONGEST_URL) throw fault(`must be at most ${LONGEST_URL} characters long`)
  // The parser of URLs would remove them.
  if (/[\s\p{Cc}]/u.test(text)) throw fault('must not contain spaces or control characters')
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\//i.test(text)) throw fault(`must be a URL such as ${of.example}`)
  if (url.protocol === 'http:' && !toPrivate)
    throw fault('must begin with https: the operator of this service does not allow http')
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@'))
    throw fault(`must have no user and no password${of.instead}`)
  if (text.includes('#')) throw fault('must have no fragment: no request sends it')
  if (url.port === '0') throw fault('must have a port of 1 to 65535')
  const address = addressIn(url)
  if (address === undefined && !toPrivate && LOCAL_NAME.test(url.hostname)) throw fault(NOT_PUBLIC)
  if (address !== undefined && !toPrivate && !isPublicAddress(address)) throw fault(NOT_PUBLIC)
  return url
}

const authorityOf = (text: string) => text.replace(/^https?:[/\\]*/i, '').split(/[/\\?]/, 1)[0]!

/** Says why an address is refused. */
export const NOT_PUBLIC = 'must lead to an address of the internet, not of a private, local or reserved network'

/** An address of a name. */
interface NameAddress {
  readonly address: string
  readonly family: number
}

/** Looks up all addresses of a name. */
export type ResolveName = (name: string) => Promise<readonly NameAddress[]>

/** Look-ups at once, and those that wait for their turn. */
const MOST_AT_ONCE = 64
const MOST_WAITING = 1_000
/** How long a name server may take, and how often it is asked. */
const ASKING = { timeout: 2_000, tries: 2 }

/** Thrown where a name leads to an address that is not on the internet. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
  constructor() {
    super('the name leads to an address of a private, local or reserved network')
  }
}

const resolver = new Resolver(ASKING)

/** Looks a name up as the system does, with its own file of names. It occupies one of the few threads of the process. */
export const bySystem: ResolveName = (name) =>
  new Promise((resolve, reject) =>
    lookupByDns(name, { all: true, order: 'verbatim' }, (error, found) => (error ? reject(error) : resolve(found))),
  )

/** Asks the name servers, without a thread: a slow one does not hold up the look-ups of other names. */
export const byNameServers: ResolveName = async (name) => {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
  const found = (addresses: PromiseSettledResult<string[]>, family: number) =>
    addresses.status === 'fulfilled' ? addresses.value.map((address) => ({ address, family })) : []
  return [...found(four, 4), ...found(six, 6)]
}

/** Returns a function that looks names up, some at once; calls for one name share a look-up. */
export function createResolver(resolve: ResolveName, mostAtOnce = MOST_AT_ONCE): ResolveName {
  const gate = createGate({
    atOnce: mostAtOnce,
    waiting: { all: MOST_WAITING, ofGroup: MOST_WAITING },
    refusal: 'too many names are being looked up',
    againSeconds: 1,
  })
  const share = createSingleFlight<string, readonly NameAddress[]>()
  return (name) => share(name, () => gate.run({ group: 'names' }, () => resolve(name)))
}

/** Returns all addresses of a name. @throws PrivateAddressError where any of them is not on the internet */
export async function publicAddresses(resolve: ResolveName, name: string): Promise<readonly NameAddress[]> {
  const found = await resolve(name)
  if (found.length === 0 || !found.every(({ address }) => isPublicAddress(address))) throw new PrivateAddressError()
  return found
}

/**
 * Returns a look-up for connections. A connection goes to an address that was checked: the name is not looked up again.
 * @param toPrivate whether private addresses are allowed
 */
export const checkedLookup =
  (resolve: ResolveName, toPrivate: boolean): LookupFunction =>
  (name, options, found) => {
    const look = toPrivate ? resolve(name) : publicAddresses(resolve, name)
    look.then(
      (addresses) => {
        const [first] = addresses
        if (options.all) found(null, [...addresses])
        else if (first) found(null, first.address, first.family)
        else found(Object.assign(new Error('no address is known for the name'), { code: 'ENOTFOUND' }), [])
      },
      (error: NodeJS.ErrnoException) => found(error, []),
    )
  }
