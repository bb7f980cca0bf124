import { randomBytes } from 'node:crypto'
import { type Io, UsageError } from './terminal/terminalIo.ts'

/** A password that the operator gives, or one made for him. */
export interface Given {
  readonly password: string
  /** To be shown, once. */
  readonly generated: boolean
}

/**
 * Never an argument, which others on the machine can see: asked for at a terminal, else the first line of stdin; or made
 * here, of 144 random bits.
 */
export async function passwordFrom(io: Io, { generate = false }: { generate?: boolean }): Promise<Given> {
  if (generate) return { password: randomBytes(18).toString('base64url'), generated: true }
  if (!io.interactive) {
    const [password = ''] = (await io.readStdin()).split(/\r?\n/)
    if (password === '') throw new UsageError('give the password as the first line of stdin, or say --generate')
    return { password, generated: false }
  }
  const password = await io.askPassword('Password:')
  if (password !== (await io.askPassword('The same again:'))) throw new UsageError('the two passwords differ')
  return { password, generated: false }
}
