import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { createMetrics } from '../../src/observability/metrics.ts'
import { type Recent, rememberRecent } from '../../src/office/recent.ts'
import { buildMonitor, type MonitorDeps } from '../../src/office/server.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'

/** An e-mail and a password. */
export interface Person {
  readonly email: string
  readonly password: string
}

/** An answer of a page. */
export interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** A file of a form: the name of its field, and its content. */
export interface SentFile {
  readonly field: string
  readonly content: string | Uint8Array<ArrayBuffer>
}

/** The office pages of a service under test, and the people who have signed in. */
export interface Office {
  readonly monitor: FastifyInstance
  /** Signs a person in. @returns the cookie of the session */
  signIn(person: Person, address?: string): Promise<string>
  /** Opens a page as a person, the operator of the demonstration when left out. */
  look(url: string, person?: Person): Promise<Seen>
  /** Sends the form of a page: with its hidden fields, and the given ones. */
  send(url: string, fields: Readonly<Record<string, string>>, person?: Person): Promise<Seen>
  /** Sends the form of a page with a file, as a browser does. */
  sendFile(url: string, fields: Readonly<Record<string, string>>, file: SentFile, person?: Person): Promise<Seen>
  /** Sends fields as they are, with a cookie. */
  post(url: string, fields: Readonly<Record<string, string>>, cookie: string): Promise<Seen>
}

/** What a test may replace. */
export type OfficeOptions = Partial<Pick<MonitorDeps, 'totals'>> & { readonly recent?: Recent }

/** Opens the office pages. A page that fails with an error of the service fails the test. */
export function openOffice(deps: MonitorDeps['deps'], options: OfficeOptions = {}): Office {
  const { recent = rememberRecent(deps.machineNow), totals = { latest: () => [] } } = options
  const log = { error: (context: object) => expect.unreachable(String((context as { err: Error }).err?.stack)) }
  const monitor = buildMonitor({ deps, metrics: createMetrics(deps.machineNow), recent, totals, log })
  const cookies = new Map<string, Promise<string>>()
  const cookieOf = (person: Person) => {
    const known = cookies.get(person.email) ?? signIn(person)
    cookies.set(person.email, known)
    return known
  }
  const toSeen = ({ statusCode, headers, body }: { statusCode: number; headers: object; body: string }): Seen => ({
    status: statusCode,
    headers: headers as Seen['headers'],
    // What a cell is called on a phone is looked at in a browser.
    text: body.replaceAll(/ data-label="[^"]*"/g, ''),
  })

  async function signIn({ email, password }: Person, remoteAddress = '127.0.0.1'): Promise<string> {
    const answer = await monitor.inject({
      ...{ method: 'POST', url: '/sign-in', remoteAddress },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ email, password }).toString(),
    })
    const cookie = answer.cookies.find(({ name }) => name === 'mkopo_session')
    return cookie === undefined ? '' : `${cookie.name}=${cookie.value}`
  }

  const look: Office['look'] = async (url, person = DEMO_OPERATOR) => {
    const answer = toSeen(await monitor.inject({ url, headers: { cookie: await cookieOf(person) } }))
    // The clock of the test has gone on by more than a session lasts.
    if (!String(answer.headers.location ?? '').startsWith('/sign-in')) return answer
    cookies.delete(person.email)
    return toSeen(await monitor.inject({ url, headers: { cookie: await cookieOf(person) } }))
  }

  const post: Office['post'] = async (url, fields, cookie) =>
    toSeen(
      await monitor.inject({
        ...{ method: 'POST', url },
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      }),
    )

  return {
    monitor,
    signIn,
    look,
    post,
    async send(url, fields, person = DEMO_OPERATOR) {
      const page = await look(url, person)
      const form = formOf(page.text, url)
      return post(url, { ...form, ...fields }, await cookieOf(person))
    },
    async sendFile(url, fields, { field, content }, person = DEMO_OPERATOR) {
      const { [field]: _, ...form } = formOf((await look(url, person)).text, url)
      const data = new FormData()
      for (const [name, value] of Object.entries({ ...form, ...fields })) data.append(name, value)
      data.append(field, new Blob([content]), 'statement.csv')
      const sent = new Response(data)
      const answer = await monitor.inject({
        method: 'POST',
        url,
        headers: { cookie: await cookieOf(person), 'content-type': sent.headers.get('content-type')! },
        payload: Buffer.from(await sent.arrayBuffer()),
      })
      return toSeen(answer)
    },
  }
}

const unescaped = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]!,
  )

/** Reads the fields of the form of a page that is sent to a path, with the values that they have. */
export function formOf(page: string, url: string): Record<string, string> {
  const forms = [...page.matchAll(/<form[^>]*method="post"[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)]
  const form = forms.find(([, action]) => unescaped(action!) === url)
  expect(form, `a form that is sent to ${url} in ${page.slice(0, 5_000)}`).toBeDefined()
  const fields = [...form![2]!.matchAll(/<input[^>]*>/g)].map(([input]) => {
    const read = (name: string) => unescaped(new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1] ?? '')
    return [read('name'), read('value')]
  })
  return Object.fromEntries(fields)
}

/** Returns the rows of the table of a page with a caption, each with the text of its cells. */
export const rowsOf = (page: string, caption: string): string[][] =>
  (page.split(`<caption>${caption}</caption>`)[1]?.split('</table>')[0] ?? '')
    .split('<tr>')
    .slice(2)
    .map((row) =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replace(/<(?!img)[^>]+>/g, '')),
    )
