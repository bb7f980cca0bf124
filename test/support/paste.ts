import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { nodeSettings } from './children.ts'

/** A shell as a person has it open: interactive, and with no start-up files of this machine. */
export const SHELLS = {
  bash: ['--norc', '--noprofile', '--noediting', '-i'],
  zsh: ['-f', '-i', '+o', 'prompt_sp'],
} as const

/** What was printed between one paste and the next. */
export interface Pasted {
  readonly out: string
  readonly err: string
}

/** Ends a paste on both outputs; no block prints it. */
const END = '=== end of the paste ==='
/** What shells print of their own where they have no terminal, and their prompts. */
const OWN = /^(?:(?:ba|z)sh: (?:cannot set terminal process group|no job control in this shell|can't set tty pgrp).*)$/

/** Pastes texts one after the other into one interactive shell. @returns what each printed */
export async function pasteInto(
  shell: keyof typeof SHELLS,
  texts: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string | undefined> },
): Promise<Pasted[]> {
  // Without a terminal of ours: an interactive shell would take it.
  const child = spawn(shell, SHELLS[shell], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, PS1: '', PS2: '', TERM: 'dumb', ...nodeSettings(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  const closed = once(child, 'close')
  child.stdin.end(texts.map((text) => `${text}\necho '${END}'; echo '${END}' >&2\n`).join(''))
  await closed
  const parts = (text: string) => text.split(`${END}\n`)
  const [outs, errs] = [parts(out), parts(err)]
  return texts.map((_, index) => ({ out: outs[index] ?? '', err: spoken(errs[index] ?? '') }))
}

/** What an interactive shell says of itself is not what a command said. */
const spoken = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line !== '' && !OWN.test(line))
    .join('\n')
