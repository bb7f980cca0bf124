import { lookup as lookupByDns } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'

/** An address of a name. */
export interface NameAddress {
  readonly address: string
  readonly family: number
}

/** Looks up all addresses of a name. */
export type ResolveName = (name: string) => Promise<readonly NameAddress[]>

/** Look-ups at once: each occupies one of the few threads of the process that files and passwords need, too. */
const MOST_AT_ONCE = 2

/** Thrown where a name leads to an address that is not on the internet. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
  constructor() {
    super('the name leads to an address of a private, local or reserved network')
  }
}

const byDns: ResolveName = (name) =>
  new Promise((resolve, reject) =>
    lookupByDns(name, { all: true, order: 'verbatim' }, (error, found) => (error ? reject(error) : resolve(found))),
  )

/** Returns a function that looks names up by the system, few at once; calls for one name share a look-up. */
export function createResolver(resolve: ResolveName = byDns): ResolveName {
  const underWay = new Map<string, Promise<readonly NameAddress[]>>()
  const waiting: (() => void)[] = []
  let busy = 0
  const inTurn: ResolveName = async (name) => {
    if (busy >= MOST_AT_ONCE) await new Promise<void>((go) => waiting.push(go))
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
