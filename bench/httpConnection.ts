import { connect, type Socket } from 'node:net'

/** An answer; the body is kept only where it is needed: of refusals, and where asked for. */
export interface Answer {
  readonly status: number
  readonly body: string
}

const ANSWER_WITHIN_MS = 60_000
const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * One keep-alive HTTP/1.1 connection, one request at a time, no pipelining: just enough of the protocol for answers that
 * carry a Content-Length, so that the generator takes as little as possible of the two cores that it shares with what
 * it measures.
 */
export class HttpConnection {
  readonly #socket: Socket
  #pending: { resolve(answer: Answer): void; reject(error: Error): void; keepBody: boolean } | undefined
  #failed: Error | undefined
  #chunks: Buffer[] = []
  #status = 0
  /** Bytes of the body still to come; -1 while the head is. */
  #missing = -1

  /** @param localAddress the loopback address it calls from; any when left out */
  constructor(port: number, localAddress?: string) {
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      ...(localAddress !== undefined && { localAddress }),
    })
    this.#socket.setTimeout(ANSWER_WITHIN_MS, () => this.#socket.destroy(new Error('no answer within a minute')))
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  /** Whether it can send: the other side closes a connection that has waited for long. */
  get isOpen(): boolean {
    return this.#failed === undefined
  }

  send(request: string, { keepBody = false } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failed) return reject(this.#failed)
      this.#pending = { resolve, reject, keepBody }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    let body = chunk
    if (this.#missing === -1) {
      const all = this.#chunks.length === 0 ? chunk : Buffer.concat([...this.#chunks, chunk])
      const end = all.indexOf(HEAD_END)
      if (end === -1) {
        this.#chunks = [all]
        return
      }
      const head = all.toString('latin1', 0, end)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      this.#status = Number(head.slice(9, 12))
      this.#missing = Number(length ?? 0)
      this.#chunks = []
      if (length === undefined && this.#status !== 204) {
        this.#fail(new Error(`no Content-Length in: ${head}`))
        return
      }
      body = all.subarray(end + HEAD_END.length)
    }
    this.#missing -= body.length
    if (this.#pending?.keepBody || this.#status >= 300) this.#chunks.push(body)
    if (this.#missing === 0) this.#finish()
    else if (this.#missing < 0) this.#fail(new Error('more came than was asked for'))
  }

  #finish(): void {
    const pending = this.#pending
    const answer = { status: this.#status, body: Buffer.concat(this.#chunks).toString('utf8') }
    this.#pending = undefined
    this.#chunks = []
    this.#missing = -1
    pending?.resolve(answer)
  }

  #fail(error: Error): void {
    this.#failed ??= error
    const pending = this.#pending
    this.#pending = undefined
    pending?.reject(error)
    this.#socket.destroy()
  }
}
