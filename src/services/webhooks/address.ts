import ipaddr from 'ipaddr.js'
import { invalidArgument } from '../../domain/errors.ts'

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

/**
 * Reads the URL of an endpoint; addresses of names are checked when they are looked up.
 * @param toPrivate whether `http:` and private addresses are allowed
 * @throws LendingError `invalid_argument`
 */
export function readEndpointUrl(text: string, toPrivate: boolean): URL {
  const fault = (wording: string) => invalidArgument('url', wording)
  if (text.length > LONGEST_URL) throw fault(`must be at most ${LONGEST_URL} characters long`)
  // The parser of URLs would remove them.
  if (/[\s\p{Cc}]/u.test(text)) throw fault('must not contain spaces or control characters')
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\//i.test(text)) throw fault('must be a URL such as https://hooks.example.com/mkopo')
  if (url.protocol === 'http:' && !toPrivate)
    throw fault('must begin with https: the operator of this service does not allow http')
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@'))
    throw fault('must have no user and no password: check the signature of a delivery instead')
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
