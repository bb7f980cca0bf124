import { lookup as lookupByDns } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'

/** An address of a name. */
export interface NameAddress {
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

/** Looks a name up as the system does, with its own file of names. It occupies one of the few threads of the process. */
export const bySystem: ResolveName = (name) =>
  new Promise((resolve, reject) =>
    lookupByDns(name, { all: true, order: 'verbatim' }, (error, found) => (error ? reject(error) : resolve(found))),
  )

const resolver = new Resolver(ASKING)

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
  const underWay = new Map<string, Promise<readonly NameAddress[]>>()
  const waiting: (() => void)[] = []
  let busy = 0
  const inTurn: ResolveName = async (name) => {
    if (waiting.length >= MOST_WAITING) throw new Error('too many names are being looked up')
    if (busy >= mostAtOnce) await new Promise<void>((go) => waiting.push(go))
    else busy++
    try {
      return await resolve(name)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else busy--
    }
  }
  return (name) => {
    const shared = underWay.get(name) ?? inTurn(name).finally(() => underWay.delete(name))
    underWay.set(name, shared)
    return shared
  }
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
