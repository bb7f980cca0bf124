import type { Part } from '../../../support/upload.ts'
import type { Answered, Sent } from './sent.ts'

// Reads a file of HTTP requests as the REST Client of VS Code does: `###` begins a request, a line with `#` is a comment,
// `# @name` names the request, `@name = value` is a variable, and a body follows an empty line.

/** A request of a file, with its variables still to fill in. */
export interface Region {
  readonly heading: string
  readonly name: string
  readonly lines: readonly string[]
}

/** Returns the variables of a file, which are before its first request, and its requests. */
export function readHttpFile(text: string) {
  const [head = '', ...regions] = text.split(/^### /m)
  const variables = new Map(
    [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
  )
  return {
    variables,
    regions: regions.map((region): Region => {
      const [heading = '', ...lines] = region.trimEnd().split('\n')
      const name = lines.find((line) => line.startsWith('# @name '))?.slice('# @name '.length) ?? ''
      const begin = lines.findIndex((line) => !line.startsWith('#'))
      return { heading, name, lines: lines.slice(begin) }
    }),
  }
}

/** Sends the requests of a file in order. */
export async function runHttpFile(
  { variables, regions }: ReturnType<typeof readHttpFile>,
  send: (sent: Sent) => Promise<Answered>,
  statement: Buffer,
): Promise<void> {
  const answers = new Map<string, string>()
  const fill = (text: string): string =>
    text.replace(/\{\{([^}]+)\}\}/g, (whole, name: string) => variables.get(name) ?? memberOf(answers, name) ?? whole)
  for (const { name, lines } of regions) {
    const [first = '', ...rest] = fill(lines.join('\n')).split('\n')
    const [method = '', url = ''] = first.split(' ')
    const end = rest.indexOf('')
    const headers = Object.fromEntries(
      (end === -1 ? rest : rest.slice(0, end)).map((line) => {
        const [, header = '', value = ''] = /^([\w-]+): (.*)$/.exec(line) ?? []
        return [header.toLowerCase(), encoded(value)]
      }),
    )
    const raw = end === -1 ? undefined : rest.slice(end + 1).join('\n')
    const boundary = /boundary=(\S+)/.exec(headers['content-type'] ?? '')?.[1]
    const body = boundary === undefined || raw === undefined ? { raw } : { parts: partsOf(raw, boundary, statement) }
    const { status, text } = await send({ name, method, url, headers, ...(body as Pick<Sent, 'raw' | 'parts'>) })
    if (status < 300) answers.set(name, text)
  }
}

/** Encodes the e-mail and the password of a header in words. */
const encoded = (value: string): string =>
  value.startsWith('Basic ') ? `Basic ${Buffer.from(value.slice('Basic '.length)).toString('base64')}` : value

/** Returns a member of an answer: `createLoan.response.body.$.id`. */
function memberOf(answers: ReadonlyMap<string, string>, reference: string): string | undefined {
  const [, name = '', path = ''] = /^(\w+)\.response\.body\.\$\.(.+)$/.exec(reference) ?? []
  const text = answers.get(name)
  if (text === undefined) return undefined
  const members = path.split(/\.|\[|\]\.?/).filter((member) => member !== '')
  const found = members.reduce(
    (value: unknown, member) => (value as Record<string, unknown>)?.[member],
    JSON.parse(text),
  )
  return found === undefined ? undefined : String(found)
}

/** Returns the fields of a form; `< ./name` is the content of a file. */
const partsOf = (raw: string, boundary: string, statement: Buffer): Part[] =>
  raw
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part): Part => {
      const [head = '', value = ''] = part.trim().split('\n\n')
      const name = /name="(\w+)"/.exec(head)?.[1] ?? ''
      return [name, value.startsWith('< ./') ? statement : value]
    })
