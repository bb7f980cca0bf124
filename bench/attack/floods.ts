import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { HttpConnection } from '../httpConnection.ts'

/** What a flood is sent to, and by whom. */
export interface Aim {
  readonly port: number
  /** The operators' port. */
  readonly opsPort: number
  /** The cookie of a session of the attacker at the office pages. */
  readonly cookie: string
  /** A token of an account of the attacker's organization. */
  readonly token: string
  /** Loans of that organization: one to repay, and one with a long history. */
  readonly loan: string
  readonly longLoan: string
  readonly milliseconds: number
  /** A status for which the flood goes on beyond its time, and the milliseconds after which it ends without it. */
  readonly awaited?: { readonly status: string; readonly milliseconds: number }
}

/** What became of a flood's requests: how many were answered with each status, or not at all. */
export type Tally = Record<string, number>

/** Where every flood comes from; honest callers have addresses of their own. */
export const ATTACKER = '127.0.0.2'

/** Requests of a flood at most, so that it ends whatever happens. */
const MOST_REQUESTS = 1_000_000
const REOPEN_MS = 20
/** Milliseconds between two looks for the status that a flood awaits. */
const LOOK_MS = 20
const SLOW_BYTE_MS = 500

interface Flood {
  readonly says: string
  run(aim: Aim): Promise<Tally>
}

const request = (method: string, host: string, path: string, authorization: string, body?: string, type?: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: ${host}.localhost\r\nauthorization: ${authorization}\r\n${
    body === undefined
      ? '\r\n'
      : `content-type: ${type ?? 'application/json'}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }`

/** Waits until a flood has lasted its time, and longer for the status that it awaits, while there is time for that. */
async function last({ milliseconds, awaited }: Aim, tally: Tally): Promise<void> {
  const began = performance.now()
  await pause(milliseconds)
  if (awaited === undefined) return
  while (tally[awaited.status] === undefined && performance.now() - began < awaited.milliseconds) await pause(LOOK_MS)
}

/** Sends on each of some connections, one request after the other, until the time is over. */
async function hammer(
  aim: Aim,
  connections: number,
  next: (number: number) => string,
  changingAddressOf?: () => string,
): Promise<Tally> {
  const tally: Tally = {}
  let over = false
  let sent = 0
  // An attacker whose address changes has a connection for each request.
  const changes = changingAddressOf !== undefined
  const addressOf = changingAddressOf ?? (() => ATTACKER)
  const run = async () => {
    let connection = new HttpConnection(aim.port, addressOf())
    while (!over && sent < MOST_REQUESTS) {
      const outcome = await connection.send(next(sent++)).then(
        ({ status }) => String(status),
        () => 'none',
      )
      tally[outcome] = (tally[outcome] ?? 0) + 1
      if (outcome !== 'none' && !changes) continue
      connection.close()
      if (outcome === 'none') await pause(REOPEN_MS)
      connection = new HttpConnection(aim.port, addressOf())
    }
    connection.close()
  }
  const all = Promise.all(Array.from({ length: connections }, run))
  await last(aim, tally)
  over = true
  // A connection whose answer does not come is left alone when the time is over.
  await Promise.race([all, pause(2_000, undefined, { ref: false })])
  return tally
}

/** Opens connections that stay, and asks on each; one that is closed is opened again, and counted. */
async function hold(aim: Aim, connections: number, use: (socket: Socket) => void): Promise<Tally> {
  const tally: Tally = {}
  const open = new Set<Socket>()
  let over = false
  const one = () => {
    const socket = connect({ host: '127.0.0.1', port: aim.port, localAddress: ATTACKER })
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('connect', () => use(socket))
    socket.once('data', (head: Buffer) => {
      const status = head.toString('latin1', 9, 12)
      tally[status] = (tally[status] ?? 0) + 1
    })
    socket.once('close', () => {
      open.delete(socket)
      tally.closed = (tally.closed ?? 0) + 1
      if (!over && tally.closed < MOST_REQUESTS) setTimeout(one, REOPEN_MS).unref()
    })
  }
  for (let index = 0; index < connections; index++) one()
  await last(aim, tally)
  over = true
  tally.open = open.size
  for (const socket of open) socket.destroy()
  return tally
}

let addresses = 0
/** Returns another address of loopback each time, none of which an honest caller has. */
const changingAddress = () => {
  addresses++
  return `127.${64 + ((addresses >> 16) & 63)}.${(addresses >> 8) & 255}.${1 + (addresses % 250)}`
}

/** A request to the operators' port. */
const atOffice = (method: string, path: string, headers: Readonly<Record<string, string>>, body = '') =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

const aWrongSignIn = (number: number) =>
  atOffice(
    'POST',
    '/sign-in',
    { 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams({ email: `nobody-${number}@example.com`, password: 'wrong' }).toString(),
  )

/** A byte now and then of a body that says it has a megabyte. */
function slowBody(token: string): (socket: Socket) => void {
  const head = request('POST', 'api', '/v1/customers', `Bearer ${token}`, '').replace(
    'content-length: 0\r\n',
    'content-length: 1000000\r\n',
  )
  return (socket) => {
    socket.write(`${head}{"externalId": "`)
    socket.write('a'.repeat(200_000))
    const timer = setInterval(() => socket.write('a'), SLOW_BYTE_MS)
    socket.once('close', () => clearInterval(timer))
  }
}

const forged = () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `Bearer ${part({ alg: 'RS256', typ: 'JWT', kid: randomUUID() })}.${part({ sub: '1', org: 1 })}.${'a'.repeat(342)}`
}

/** No statement, but enough of a PDF to have a process look into it. */
const file = `%PDF-1.7\n${'0 '.repeat(500_000)}\nstartxref\n0\n%%EOF`
const name = '--b\r\ncontent-disposition: form-data; name="fullName"\r\n\r\nAsha Mwangi\r\n'
const upload = `${name}--b\r\ncontent-disposition: form-data; name="statement"; filename="s.pdf"\r\ncontent-type: application/pdf\r\n\r\n${file}\r\n--b--\r\n`

/** The floods by name, each from one address, and those with a token from one account. */
export const FLOODS: Readonly<Record<string, Flood>> = {
  nothing: {
    says: 'no flood: how much the machine itself differs',
    run: ({ milliseconds }) => pause(milliseconds, {}),
  },
  'wrong sign-ins': {
    says: '160 connections, wrong passwords of other e-mails each',
    run: (aim) =>
      hammer(aim, 160, (number) =>
        request(
          'GET',
          'auth',
          '/v1/auth/token',
          `Basic ${Buffer.from(`nobody-${number}@example.com:wrong`).toString('base64')}`,
        ),
      ),
  },
  'unknown keys': {
    says: '100 connections, tokens that name keys nobody has',
    run: (aim) => hammer(aim, 100, () => request('GET', 'api', '/v1/loan-products', forged())),
  },
  'full speed': {
    says: '256 connections, repayments of one account',
    run: (aim) =>
      hammer(aim, 256, (number) =>
        request(
          'POST',
          'api',
          `/v1/loans/${aim.loan}/repayments`,
          `Bearer ${aim.token}`,
          `{"transactionAmount": 0.01, "idempotencyKey": "flood-${aim.milliseconds}-${number}"}`,
        ),
      ),
  },
  'slow bodies': {
    says: '400 connections, bodies of 1 MB that come byte by byte',
    run: (aim) => hold(aim, 400, slowBody(aim.token)),
  },
  'unread answers': {
    says: '40 connections, pages of 100 long loans that nobody reads',
    run: (aim) =>
      hold(aim, 40, (socket) => {
        socket.write(request('GET', 'api', '/v1/loans?rows=100', `Bearer ${aim.token}`))
        socket.once('data', () => socket.pause())
      }),
  },
  'heavy lists': {
    says: '16 connections, pages of 100 long loans',
    run: (aim) => hammer(aim, 16, () => request('GET', 'api', '/v1/loans?rows=100', `Bearer ${aim.token}`)),
  },
  'heavy histories': {
    says: '16 connections, a loan of 20,000 repayments',
    run: (aim) => hammer(aim, 16, () => request('GET', 'api', `/v1/loans/${aim.longLoan}`, `Bearer ${aim.token}`)),
  },
  uploads: {
    says: '32 connections, 1 MB each that is nearly a statement',
    run: (aim) =>
      hammer(aim, 32, () =>
        request(
          'POST',
          'api',
          '/v1/credit-scorecard/asha/boost',
          `Bearer ${aim.token}`,
          upload,
          'multipart/form-data; boundary=b',
        ),
      ),
  },
  PDFs: {
    says: '6 connections, statements of one account as PDF',
    run: (aim) =>
      hammer(aim, 6, () =>
        request('GET', 'api', `/v1/loans/${aim.loan}/statement`, `Bearer ${aim.token}\r\naccept: application/pdf`),
      ),
  },
  metrics: {
    says: '30 connections to the operators’ port, the metrics',
    run: (aim) => hammer({ ...aim, port: aim.opsPort }, 30, () => atOffice('GET', '/metrics', {})),
  },
  'office pages': {
    says: '400 connections to the operators’ port, one session',
    run: (aim) => hammer({ ...aim, port: aim.opsPort }, 400, () => atOffice('GET', '/', { cookie: aim.cookie })),
  },
  'office sign-ins': {
    says: '60 connections to the operators’ port, wrong passwords of other e-mails each',
    run: (aim) => hammer({ ...aim, port: aim.opsPort }, 60, aWrongSignIn),
  },
  guesses: {
    says: '60 connections to the operators’ port from changing addresses, wrong passwords of other e-mails each',
    run: (aim) => hammer({ ...aim, port: aim.opsPort }, 60, aWrongSignIn, changingAddress),
  },
}
