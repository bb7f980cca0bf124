import { BlockList, isIP } from 'node:net'
import type { Trust } from '../api/http/hosts.ts'
import { withoutPort } from '../services/access/caller.ts'
import { type Config, ConfigError } from './config.ts'

const RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/**
 * Turns the `TRUST_PROXY` setting into a predicate, for the host that selects a style and for Fastify's `request.ip`. A
 * hop count becomes a predicate too: as a number, Fastify 5 would trust no proxy.
 * @throws ConfigError for an entry that is neither an address, a CIDR range nor a known name
 */
export function trustOf(setting: Config['trustProxy']): Trust {
  if (typeof setting === 'boolean') return () => setting
  if (typeof setting === 'number') return (_address, hop) => hop < setting
  const list = new BlockList()
  for (const entry of setting.split(',').flatMap((part) => RANGES[part.trim()] ?? [part.trim()])) addRange(list, entry)
  return (given) => {
    const address = given === undefined ? '' : withoutPort(given)
    return isIP(address) !== 0 && list.check(address, familyOf(address))
  }
}

function addRange(list: BlockList, entry: string) {
  const [address = '', bits, ...rest] = entry.split('/')
  const widest = isIP(address) === 6 ? 128 : 32
  const prefix = bits === undefined ? widest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (isIP(address) === 0 || rest.length > 0 || !(prefix <= widest))
    throw new ConfigError(
      `TRUST_PROXY: must be true, false, a hop count, or addresses, CIDR ranges and loopback, linklocal, uniquelocal, joined by commas (${JSON.stringify(entry)} is none)`,
    )
  list.addSubnet(address, prefix, familyOf(address))
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
