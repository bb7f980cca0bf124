import { expect } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import { STATEMENT_LIMITS } from '../../src/services/walletStatements/limits.ts'
import { parseStatement, type StatementFigures } from '../../src/services/walletStatements/parse.ts'
import { readPdf } from '../../src/services/walletStatements/pdf.ts'

/** Reads a statement in this process, which is quicker: what its text says does not depend on where it is read. */
export async function readHere(pdf: Buffer, currency: Currency): Promise<StatementFigures> {
  const pages = await readPdf(new Uint8Array(pdf), STATEMENT_LIMITS)
  return parseStatement(Array.isArray(pages) ? pages : expect.fail(`no text: ${pages.is}`), currency)
}
