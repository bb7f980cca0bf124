import { createServer, connect as open, type Socket } from 'node:net'

/** A port in front of a database, so that it can go, come back elsewhere, or fall silent, under one URL. */
export interface Gateway {
  /** The same URL as the database's, by way of the gateway. */
  readonly url: string
  /** Returns the URL of another database or role of the same server, by way of the gateway. */
  by(url: string): string
  /** Where it leads from now on. */
  lead(url: string): void
  /** Ends all connections, and refuses each new one, as a server that is gone. */
  cut(): void
  /** Lets connections through again after `cut`. */
  mend(): void
  /** Each connection from now on is led on so many milliseconds later, as by a machine at load. */
  delay(ms: number): void
  /** Bytes are taken and not passed on, as by a machine that has lost its network. */
  silence(on: boolean): void
  /**
   * The next connection that sends `text` falls silent for good, and no other: what it sends is lost, or all that it is
   * answered from then on.
   * @returns resolves once it is silent
   */
  silenceOne(text: string, lost: 'statement' | 'answer'): Promise<void>
  close(): Promise<void>
}

export async function openGateway(url: string): Promise<Gateway> {
  let target = new URL(url)
  let silent = false
  let isCut = false
  let delayMs = 0
  const sockets = new Set<Socket>()

  let next: { text: string; lost: 'statement' | 'answer'; resolve: () => void } | undefined
  /** Whose bytes are swallowed. */
  const mute = new Set<Socket>()

  const pass = (from: Socket, to: Socket, isClient: boolean) => {
    from.on('data', (chunk) => {
      if (isClient && next && chunk.includes(next.text)) {
        for (const one of next.lost === 'statement' ? [from, to] : [to]) mute.add(one)
        next.resolve()
        next = undefined
      }
      if (!silent && !mute.has(from)) to.write(chunk)
    })
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
    sockets.add(from)
    from.on('close', () => {
      sockets.delete(from)
      mute.delete(from)
    })
  }

  const server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const leadOn = () => {
      if (client.destroyed) return
      const upstream = open(Number(target.port), target.hostname)
      pass(client, upstream, true)
      pass(upstream, client, false)
    }
    if (delayMs === 0) return leadOn()
    sockets.add(client)
    const timer = setTimeout(leadOn, delayMs)
    client.on('error', () => client.destroy())
    client.on('close', () => {
      clearTimeout(timer)
      sockets.delete(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = String(typeof address === 'object' && address?.port)
  const by = (of: string) => Object.assign(new URL(of), { hostname: '127.0.0.1', port }).href
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: by(url),
    by,
    lead: (next) => {
      target = new URL(next)
    },
    cut: () => {
      isCut = true
      end()
    },
    mend: () => {
      isCut = false
    },
    delay: (ms) => {
      delayMs = ms
    },
    silence: (on) => {
      silent = on
      // What was lost on the way stays lost: a connection that missed a byte is of no more use.
      if (!on) end()
    },
    silenceOne: (text, lost) =>
      new Promise((resolve) => {
        next = { text, lost, resolve }
      }),
    close: async () => {
      // Also those that are on their way.
      isCut = true
      end()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
