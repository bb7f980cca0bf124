import { describe, expect, it } from 'vitest'
import {
  createResolver,
  isPublicAddress,
  PrivateAddressError,
  publicAddresses,
  readEndpointUrl,
} from '../../../src/services/webhooks/address.ts'

// Every spelling of an address that is not on the internet, as the URL of an endpoint.

const FORBIDDEN_HOSTS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]'],
  'written as one number': ['2130706433', '0x7f000001', '017700000001', '0x7f.1', '0177.0.0.1', '0x7f.0x0.0x0.0x1'],
  'with a dot at the end': ['127.0.0.1.', '10.0.0.1.', '0x7f000001.'],
  'in digits of other scripts': ['１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
  escaped: ['%31%32%37.0.0.1', '%5B%3A%3A1%5D'.replace('%5B%3A%3A1%5D', '127.0.0.%31')],
  unspecified: ['0.0.0.0', '0', '0.1.2.3', '[::]'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '0xc0a80001', '3232235521'],
  'link-local, and the data of clouds': [
    '169.254.169.254',
    '169.254.0.1',
    '2852039166',
    '0xa9fea9fe',
    '[fe80::1]',
    '[febf::1]',
  ],
  'shared by carriers': ['100.64.0.1', '100.127.255.254'],
  'reserved, for documentation and for tests': [
    ...['192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255', '192.88.99.1'],
    ...['240.0.0.1', '255.255.255.255', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[2001:2::1]', '[2001:10::1]'],
  ],
  multicast: ['224.0.0.1', '239.255.255.255', '[ff02::1]', '[ff0e::1]'],
  'unique local, and site-local': ['[fc00::1]', '[fd12:3456:789a::1]', '[fec0::1]'],
  'mapped and compatible': [
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:10.0.0.1]',
    '[::127.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[::ffff:0:8.8.8.8]',
  ],
  'translated and tunnelled': [
    ...['[64:ff9b::7f00:1]', '[64:ff9b::808:808]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2002:808:808::]'],
    ...['[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[2001::1]'],
  ],
  'not given out': ['[4000::1]', '[8000::1]', '[e000::1]', '[5f00::1]'],
}

describe('the URL of an endpoint', () => {
  const spelled = Object.entries(FORBIDDEN_HOSTS).flatMap(([kind, hosts]) => hosts.map((host) => [kind, host] as const))

  it('is tried in more than 60 spellings', () => {
    expect(new Set(spelled.map(([, host]) => host)).size).toBeGreaterThan(60)
  })

  it.each(spelled)('is refused for an address that is %s: %s', (_, host) => {
    for (const port of ['', ':8443']) {
      expect(() => readEndpointUrl(`https://${host}${port}/hook`, false)).toThrow(
        /must lead to an address of the internet/,
      )
      expect(() => readEndpointUrl(`https://${host}${port}/hook`, true)).not.toThrow()
    }
  })

  it.each([
    ['https://user@example.com/', 'must have no user and no password'],
    ['https://user:password@example.com/', 'must have no user and no password'],
    ['https://@example.com/', 'must have no user and no password'],
    ['https://example.com@10.0.0.1/', 'must have no user and no password'],
    ['https://example.com/#part', 'must have no fragment'],
    ['https://example.com/#', 'must have no fragment'],
    ['https://example.com:0/', 'must have a port'],
    ['https://example.com:65536/', 'must be a URL'],
    ['https://', 'must be a URL'],
    ['https:example.com', 'must be a URL'],
    ['https:/example.com', 'must be a URL'],
    ['https://exa mple.com/', 'must not contain spaces'],
    ['https://exam\tple.com/', 'must not contain spaces'],
    ['https://example.com/\n', 'must not contain spaces'],
    ['https://[::1/', 'must be a URL'],
    ['https://1.2.3.4.5/', 'must be a URL'],
    ['https://256.1.1.1/', 'must be a URL'],
    ['ftp://example.com/', 'must be a URL'],
    ['file:///etc/passwd', 'must be a URL'],
    ['javascript:alert(1)', 'must be a URL'],
    ['//example.com/', 'must be a URL'],
    ['http://example.com/', 'must begin with https:'],
    [`https://example.com/${'x'.repeat(2_000)}`, 'must be at most 2000 characters long'],
  ])('%s is refused', (url, message) => {
    expect(() => readEndpointUrl(url, false)).toThrow(message)
  })

  it.each([
    ['https://example.com/hook?tenant=1', 'example.com'],
    ['https://example.com:8443/', 'example.com'],
    ['HTTPS://EXAMPLE.com./', 'example.com.'],
    ['https://münchen.example/', 'xn--mnchen-3ya.example'],
    ['https://8.8.8.8/', '8.8.8.8'],
    ['https://[2606:4700:4700::1111]/', '[2606:4700:4700::1111]'],
    ['https://example.com/a@b', 'example.com'],
  ])('%s is accepted', (url, host) => {
    expect(readEndpointUrl(url, false).hostname).toBe(host)
  })
})

describe('the addresses of a name', () => {
  const resolving = (...addresses: string[]) =>
    createResolver(async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))

  it('are refused where any of them is not on the internet', async () => {
    for (const address of ['10.0.0.1', '127.0.0.1', '::1', 'fe80::1%eth0', '::ffff:10.0.0.1', 'fd00::1', '', 'not one'])
      await expect(publicAddresses(resolving('8.8.8.8', address), 'mixed.example')).rejects.toThrow(PrivateAddressError)
    await expect(publicAddresses(resolving(), 'none.example')).rejects.toThrow(PrivateAddressError)
    await expect(publicAddresses(resolving('8.8.8.8', '2606:4700::1'), 'fine.example')).resolves.toHaveLength(2)
  })

  it('are looked up few at once, and once for those who ask for one name', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const resolve = createResolver((name) => {
      begun.push(name)
      return new Promise((end) => ends.push(() => end([{ address: '8.8.8.8', family: 4 }])))
    }, 2)
    const all = ['a', 'a', 'b', 'c', 'd'].map((name) => resolve(name))
    await new Promise(setImmediate)
    expect(begun).toEqual(['a', 'b'])
    for (let index = 0; index < 4; index++) {
      ends.shift()!()
      await new Promise(setImmediate)
    }
    await Promise.all(all)
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  it('know an address by what it is', () => {
    expect(isPublicAddress('8.8.8.8')).toBe(true)
    expect(isPublicAddress('2606:4700:4700::1111')).toBe(true)
    expect(isPublicAddress('192.175.48.1')).toBe(false)
  })
})
