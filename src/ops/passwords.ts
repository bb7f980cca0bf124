import { randomBytes } from 'node:crypto'
import { type Io, UsageError } from './terminal/terminalIo.ts'

/** A password that the operator gave, or a generated one. */
export interface Given {
  readonly password: string
  /** True when the password has to be shown, once. */
  readonly generated: boolean
}

/**
 * Returns the password of an account: asked for at a terminal, else the first line of stdin, or generated from 144
 * random bits. It is never an argument, which other users of the machine could see.
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
