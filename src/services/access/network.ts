import { isIPv6 } from 'node:net'

/** Returns an address without the port that some proxies append in `X-Forwarded-For`: `10.1.1.1:443`, `[::1]:443`. */
export function withoutPort(address: string): string {
  const [, bare = address] =
    /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(address) ?? /^\[([^\]]+)\](?::\d{1,5})?$/.exec(address) ?? []
  return bare
}

/** Returns an IPv4 address; for IPv6, the network of 64 bits, because one customer has all of it. */
export function networkOf(given: string): string {
  if (!given.includes(':')) return given
  const address = withoutPort(given)
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const whole = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right]
  return `${whole
    .slice(0, 4)
    .map((part) => part.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
