import type { JobEnvironment, JobStyle } from './generator.ts'

/** What the book must hold after a job, by path: text that the answer has, letter by letter. */
type Wanted = readonly (readonly [path: string, texts: readonly string[]])[]

const PRINCIPAL = '9999999.97'
const PAID = '987654.32'

const PARTNER: Wanted = [
  ['/v1/loans/external/LOAN-0001', [`"principal":${PRINCIPAL},`, `"amount":${PAID},`]],
  ['/v1/loans/external/LOAN-0001/repayments', ['"total":1,', `"amount":${PAID},`]],
]

const recordOf = (id: bigint): Wanted => [
  [`/v1/borrowers/${id}`, [`"id":${id},`]],
  [`/v1/loans/${id}`, [`"loan_id":${id},`, `"borrower_id":${id},`, `"principal_amount":${PRINCIPAL},`]],
  [`/v1/loans/${id - 1n}`, [`"loan_id":${id - 1n},`, `"loan_principal_amount":${PRINCIPAL},`]],
  [`/v1/repayments/${id}`, [`"repayment_id":${id},`, `"loan_id":${id},`, `"amount":${PAID},`]],
]

/**
 * Reads the book that a job has left, over plain HTTP, and compares the text of the answers: no number is parsed.
 * @throws Error for the first answer that has not what the job was to book
 */
export async function checkBook(style: JobStyle, environment: JobEnvironment): Promise<void> {
  const { URL: url, AUTH_URL, EMAIL, PASSWORD, RECORD_ID } = environment
  const basic = Buffer.from(`${EMAIL}:${PASSWORD}`).toString('base64')
  const { token } = JSON.parse(await read(`${AUTH_URL}/v1/auth/token`, `Basic ${basic}`)) as { token: string }
  for (const [path, texts] of style === 'partner' ? PARTNER : recordOf(BigInt(RECORD_ID))) {
    const body = await read(`${url}${path}`, `Bearer ${token}`)
    const missing = texts.find((text) => !body.includes(text))
    if (missing !== undefined) throw new Error(`the book has no ${missing} in ${path}: ${body}`)
  }
}

async function read(url: string, authorization: string): Promise<string> {
  const answer = await fetch(url, { headers: { authorization } })
  const body = await answer.text()
  if (!answer.ok) throw new Error(`GET ${url} answered ${answer.status}: ${body}`)
  return body
}
