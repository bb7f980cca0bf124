import type { Call } from './service.ts'

/** A part of a multipart body: text, or a file. */
export type Part = readonly [name: string, value: string | Buffer, filename?: string]

const BOUNDARY = 'mkopo-test-boundary'

/** What a client sends for a form with these parts, in their order. */
export function form(parts: readonly Part[]): Required<Pick<Call, 'raw' | 'headers'>> & { raw: Buffer } {
  const bytes = parts.flatMap(([name, value, filename = typeof value === 'string' ? undefined : 'statement.pdf']) => {
    const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/pdf`
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]
  })
  return {
    raw: Buffer.concat([...bytes, Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  }
}

/** A form with a statement, and further fields; the name on the statement when left out. */
export const showing = (statement: Buffer, fields: Readonly<Record<string, string>> = { fullName: 'Asha Mwangi' }) =>
  form([['statement', statement], ...Object.entries(fields)])
