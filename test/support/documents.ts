import { expect } from 'vitest'
import type { Answer, TestService } from './service.ts'

/** A file as it was answered. */
export interface AnsweredFile {
  readonly status: number
  readonly bytes: Buffer
  readonly headers: Answer['headers']
}

interface Wanted {
  readonly accept: string
  readonly host?: string
  readonly token?: string
}

/** Asks for a document in a media type. */
export async function fileOf(
  service: TestService,
  url: string,
  { accept, host, token }: Wanted,
): Promise<AnsweredFile> {
  const { config } = service.deps
  const { statusCode, rawPayload, headers } = await service.app.inject({
    url,
    headers: {
      host: host ?? new URL(config.baseUrl).host,
      authorization: `Bearer ${token ?? service.tokens.partner}`,
      accept,
    },
  })
  return { status: statusCode, bytes: rawPayload, headers }
}

/** Asks for a document as PDF. */
export async function pdfOf(service: TestService, url: string): Promise<Buffer> {
  const { status, bytes, headers } = await fileOf(service, url, { accept: 'application/pdf' })
  expect([status, headers['content-type']], bytes.toString().slice(0, 300)).toEqual([200, 'application/pdf'])
  return bytes
}
