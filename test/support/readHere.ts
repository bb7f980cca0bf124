import { expect } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import type { Deps } from '../../src/services/deps.ts'
import { STATEMENT_LIMITS } from '../../src/services/walletStatements/limits.ts'
import { parseStatement, type StatementFigures } from '../../src/services/walletStatements/parse.ts'
import { readPdf } from '../../src/services/walletStatements/pdf.ts'
import { type StatementReader, statementHash } from '../../src/services/walletStatements/reader.ts'

/** Reads a statement in this process, which is quicker: what its text says does not depend on where it is read. */
export async function readHere(pdf: Buffer, currency: Currency): Promise<StatementFigures> {
  const pages = await readPdf(new Uint8Array(pdf), STATEMENT_LIMITS)
  return parseStatement(Array.isArray(pages) ? pages : expect.fail(`no text: ${pages.is}`), currency)
}

/**
 * Makes services under test read statements in this process, each file once: for tests of what follows from the figures. A
 * process for each takes most of a second. What is no PDF goes to the service's own reader, as does every statement of a test
 * that is about reading.
 */
export function readStatementsHere(...services: readonly { readonly deps: Deps }[]): void {
  const read = new Map<string, Promise<StatementFigures>>()
  for (const { deps } of services) {
    const own = deps.statements
    const here: StatementReader = {
      read(bytes, currency, signal) {
        const file = Buffer.from(bytes)
        if (!file.subarray(0, 5).equals(Buffer.from('%PDF-'))) return own.read(bytes, currency, signal)
        const name = `${currency.code} ${statementHash(bytes)}`
        const known = read.get(name) ?? readHere(file, currency)
        read.set(name, known)
        return known
      },
      close: () => own.close(),
    }
    Object.assign(deps, { statements: here })
  }
}
