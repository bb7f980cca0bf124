import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fenced block of README.md. */
export interface Block {
  /** The line that it begins at. */
  readonly line: number
  /** The chapter that it is in, by its heading. */
  readonly chapter: string
  /** `sh`, `ts`, `json`; empty for what a command prints. */
  readonly language: string
  readonly text: string
}

/** The fenced blocks of README.md, in their order. */
export function readmeBlocks(): Block[] {
  const blocks: Block[] = []
  let chapter = ''
  let open: { line: number; language: string; lines: string[] } | undefined
  for (const [index, line] of readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
    .split('\n')
    .entries()) {
    if (!open && line.startsWith('## ')) chapter = line.slice(3)
    const fence = /^```(\w*)$/.exec(line)
    if (!fence) open?.lines.push(line)
    else if (open) {
      blocks.push({ chapter, line: open.line, language: open.language, text: open.lines.join('\n') })
      open = undefined
    } else open = { line: index + 2, language: fence[1]!, lines: [] }
  }
  return blocks
}
