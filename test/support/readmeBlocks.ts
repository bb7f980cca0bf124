import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The documents whose shell blocks are there to be pasted, in the order in which a reader comes to them. Left out are
 * those whose blocks need a server that is broken or copied (recovery), or that watch and debug (CONTRIBUTING).
 */
export const PASTED_DOCUMENTS = [
  'README.md',
  'docs/tour.md',
  'docs/integrating/documents.md',
  'docs/integrating/test-organizations.md',
  'docs/integrating/payments.md',
  'docs/credit.md',
  'docs/arrears.md',
  'docs/operating/command-line.md',
  'docs/operating/book.md',
  'docs/settings.md',
] as const

/** A fenced block of a document. */
export interface Block {
  /** The document that it is in, by its path from the root. */
  readonly document: string
  /** The line that it begins at. */
  readonly line: number
  /** The chapter that it is in, by its heading. */
  readonly chapter: string
  /** `sh`, `ts`, `json`; empty for what a command prints. */
  readonly language: string
  readonly text: string
}

/** The fenced blocks of all documents that are pasted, in their order. */
export const readmeBlocks = (): Block[] => PASTED_DOCUMENTS.flatMap(blocksOf)

/** The fenced blocks of a document, in their order. */
export function blocksOf(document: string): Block[] {
  const blocks: Block[] = []
  let chapter = ''
  let open: { line: number; language: string; lines: string[] } | undefined
  for (const [index, line] of readFileSync(join(import.meta.dirname, '../..', document), 'utf8')
    .split('\n')
    .entries()) {
    if (!open && line.startsWith('## ')) chapter = line.slice(3)
    const fence = /^```(\w*)$/.exec(line)
    if (!fence) open?.lines.push(line)
    else if (open) {
      blocks.push({ document, chapter, line: open.line, language: open.language, text: open.lines.join('\n') })
      open = undefined
    } else open = { line: index + 2, language: fence[1]!, lines: [] }
  }
  return blocks
}
