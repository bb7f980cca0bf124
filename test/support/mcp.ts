import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { expect } from 'vitest'
import type { CallerConfig } from '../../src/app/config.ts'
import type { Send } from '../../src/ops/mcp/http.ts'
import { createMcpServer } from '../../src/ops/mcp/server.ts'
import { serviceAt } from '../../src/ops/mcp/service.ts'
import type { TestService } from './service.ts'

/** Returns what sends a request into a service, without a port. */
export const injecting =
  (service: () => TestService): Send =>
  async ({ method, url, headers, body }) => {
    const { host, pathname, search } = new URL(url)
    const answer = await service().app.inject({
      method: method as 'GET',
      url: pathname + search,
      headers: { ...headers, host },
      ...(body !== undefined && { payload: body }),
    })
    return {
      status: answer.statusCode,
      type: String(answer.headers['content-type'] ?? ''),
      text: answer.payload,
      isCut: false,
    }
  }

/** How an agent is let in. */
export interface SessionOptions extends Pick<CallerConfig, 'credential'> {
  readonly proposes?: boolean | undefined
  readonly send: Send
}

/** What a tool has answered: whether it is a refusal, what the server says of it, and what the book says. */
export interface Told {
  readonly isError: boolean
  readonly head: string
  readonly text: string
}

/** Opens a session of an agent with a service, by the client of the protocol; `client.close` ends it. */
export async function openSession(service: TestService, { credential, proposes = false, send }: SessionOptions) {
  const { authUrl, baseUrl, recordsUrl } = service.deps.config
  const server = createMcpServer({ service: serviceAt({ authUrl, baseUrl, recordsUrl, credential }, send), proposes })
  const client = new Client({ name: 'test', version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(theirs), client.connect(ours)])
  const tool = async (name: string, args: Record<string, unknown>): Promise<Told> => {
    const { isError = false, content } = await client.callTool({ name, arguments: args })
    const [head = '', text = ''] = (content as { text: string }[]).map((one) => one.text)
    return { isError: isError === true, head, text }
  }
  const call = (operation: string, rest: object = {}) => tool('call', { operation, ...rest })
  return { client, tool, call }
}

/** What stands between the marks of data. */
export function dataOf({ text }: Told) {
  const [, mark, data = ''] = /^<(data-[\w-]{12})>\n([\s\S]*)\n<\/\1>$/.exec(text) ?? []
  expect(mark).toBeDefined()
  return JSON.parse(data)
}
