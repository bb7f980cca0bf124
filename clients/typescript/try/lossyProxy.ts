import { Agent, createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before a service that loses requests and answers. */
export interface LossyProxy {
  readonly port: number
  /** The shares that are lost: of the requests, before the service has them, and of the answers. */
  lose(shares: { readonly requests: number; readonly answers: number }): void
  /** How many requests came, and what was lost of them. */
  readonly counts: { came: number; lostRequests: number; lostAnswers: number }
  close(): Promise<void>
}

/**
 * Starts a proxy that passes all requests on to a port of this machine.
 * @param random draws from 0 to 1
 */
export async function startLossyProxy(port: number, random: () => number): Promise<LossyProxy> {
  let shares = { requests: 0, answers: 0 }
  const counts = { came: 0, lostRequests: 0, lostAnswers: 0 }
  const lost = (response: ServerResponse, count: 'lostRequests' | 'lostAnswers') => {
    counts[count]++
    response.destroy()
  }
  // Of its own, so that its connections to the service end with it.
  const agent = new Agent({ keepAlive: true })
  const server = createServer((came, response) => {
    counts.came++
    if (random() < shares.requests) return void lost(response, 'lostRequests')
    const losesAnswer = random() < shares.answers
    const { method, url, headers } = came
    const passed = request({ agent, host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      if (losesAnswer) {
        // The service has answered in full: what was asked for is committed.
        answer.resume().on('end', () => lost(response, 'lostAnswers'))
        return
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    came.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    lose: (wanted) => {
      shares = wanted
    },
    counts,
    close: async () => {
      server.closeAllConnections()
      agent.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
