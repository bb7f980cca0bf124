import type { FastifyInstance } from 'fastify'
import { anyText, inAscii, oneOf, type Random, written } from './mutate.ts'
import { type Sent, withBytes, withHeaders, withQuery, withStep } from './request.ts'

/** A page of the office, or a form of one. */
export interface OfficeTarget {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The fields of a form with the values that the page gives them; the names of the parameters of a query. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

const unescaped = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]!,
  )

/** The pages of one kind that are opened: a loan, and two more. */
const OF_A_KIND = 3

/** Returns the kind of a path: ids are alike. */
const kindOf = (path: string) => path.replace(/\?.*/, '').replaceAll(/\/\d+/g, '/:id')

/** Follows the links of the office from its first page, and returns every page and form that it finds. */
export async function crawl(
  monitor: FastifyInstance,
  cookie: string,
  more: readonly string[],
): Promise<OfficeTarget[]> {
  const targets: OfficeTarget[] = []
  const seen = new Map<string, number>()
  const queue = ['/', ...more]
  const known = new Set(queue)
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const kind = kindOf(path)
    const count = seen.get(kind) ?? 0
    if (count >= OF_A_KIND) continue
    seen.set(kind, count + 1)
    const query = [...new URLSearchParams(path.split('?')[1] ?? '')]
    targets.push({ name: `office GET ${kind}`, method: 'GET', path, fields: query })
    const { body } = await monitor.inject({ url: path, headers: { cookie } })
    for (const [, href] of body.matchAll(/ href="(\/[^"]*)"/g)) {
      const link = unescaped(href!)
      if (!known.has(link)) queue.push(link)
      known.add(link)
    }
    targets.push(...formsOf(body))
  }
  return targets
}

function formsOf(page: string): OfficeTarget[] {
  return [...page.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)].map(([, attributes, content]) => {
    const read = (text: string, name: string) => unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '')
    const action = read(attributes!, 'action')
    const method = read(attributes!, 'method') === 'post' ? 'POST' : 'GET'
    const fields = [...content!.matchAll(/<(?:input|select|textarea|button)\b[^>]*>/g)].flatMap(([field]) => {
      const name = read(field, 'name')
      return name === '' ? [] : [[name, read(field, 'value')] as const]
    })
    return { name: `office ${method} ${kindOf(action)}`, method, path: action, fields }
  })
}

/** What requests of the office port are made of, besides its pages. */
export interface OfficePort {
  readonly port: number
  readonly targets: readonly OfficeTarget[]
  readonly ids: readonly string[]
  /** The cookies of the people who are signed in. */
  readonly cookies: () => readonly string[]
}

/** Plausible values of fields by name: a form of nonsense alone would not come far. */
const PLAUSIBLE: Readonly<Record<string, readonly string[]>> = {
  amount: ['1', '0.01', '100.50', '999999999'],
  email: ['operator@example.com', 'nobody@example.com'],
  note: ['a note', ''],
  reason: ['a reason', ''],
  to: ['sw', 'en', '2026-03-01'],
  from: ['2026-01-01', '2026-03-01'],
  kind: ['fee', 'penalty'],
}

/** Returns a request of a page or a form with something of it changed. */
export function officeRequest(random: Random, { port, targets, ids, cookies }: OfficePort): Sent {
  const picked = oneOf(random, targets)
  // A sign-out is on each page, and ends a session: one in a while is enough.
  const isEnough = picked.path === '/sign-out' && random(20) > 0
  const { name, method, path: found, fields } = isEnough ? oneOf(random, targets) : picked
  const cookie = random(30) === 0 ? '' : oneOf(random, cookies())
  let path =
    random(4) === 0
      ? found.replace(/\/\d+/g, () => `/${written(random, random(3) === 0 ? anyText(random) : oneOf(random, ids))}`)
      : found
  if (random(25) === 0) path = withStep(random, path)
  const names = fields.map(([field]) => field)
  if (method === 'GET') path = random(3) > 0 ? withQuery(random, path, names) : path
  const content = method === 'POST' ? formBody(random, fields) : undefined
  const headers = {
    host: '127.0.0.1',
    ...(cookie !== '' && { cookie }),
    ...(content !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
  }
  const sentBy = random(60) === 0 ? oneOf(random, ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) : method
  return {
    name,
    port,
    method: sentBy,
    path: sentBy === 'HEAD' ? inAscii(path) : path,
    headers: random(8) === 0 ? withHeaders(random, headers) : headers,
    body: content && random(15) === 0 ? withBytes(random, content) : content,
  }
}

function formBody(random: Random, fields: OfficeTarget['fields']): Buffer {
  const sent = fields.flatMap(([name, value]): string[] => {
    if (random(25) === 0) return []
    const isToken = name === '_token'
    const changed = isToken ? random(30) === 0 : random(3) === 0
    const plausible = PLAUSIBLE[name]
    const text = changed ? anyText(random) : plausible && random(2) === 0 ? oneOf(random, plausible) : value
    const pair = `${encodeURIComponent(name)}=${written(random, text)}`
    return random(25) === 0 ? [pair, pair] : [pair]
  })
  if (random(20) === 0) sent.push(`${written(random, anyText(random))}=${written(random, anyText(random))}`)
  return Buffer.from(sent.join('&'), 'latin1')
}
