import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'

const INSTALL_MS = 120_000

const isThere = () => spawnSync('hledger', ['--version']).status === 0

/** Returns whether hledger can be run; root on a system with apt-get gets it installed. */
export function hasHledger(): boolean {
  if (isThere()) return true
  if (process.getuid?.() !== 0) return false
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'hledger'], { env, timeout: INSTALL_MS })
  return isThere()
}

/** Runs hledger on a journal. @returns what it wrote @throws what it found wrong */
export function hledger(journal: string, ...args: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'mkopo-hledger-'))
  try {
    const file = join(folder, 'book.journal')
    writeFileSync(file, journal)
    const env = { ...process.env, LC_ALL: 'C.UTF-8' }
    const { status, stdout, stderr, error } = spawnSync('hledger', ['-f', file, ...args], { env, encoding: 'utf8' })
    if (status !== 0) throw error ?? new Error(stderr)
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the balances of the accounts that hledger comes to, as it writes them; those without one are left out. */
export function balancesByHledger(journal: string): Record<string, string> {
  const rows: string[][] = parse(hledger(journal, 'balance', '--flat', '--no-total', '--output-format=csv'))
  return Object.fromEntries(rows.slice(1) as [string, string][])
}

/** Returns the sum of the balances that hledger comes to below some accounts, debits less credits, in cents. */
export function sumByHledger(journal: string, accounts: readonly string[]): bigint {
  const rows: string[][] = parse(hledger(journal, 'balance', ...accounts, '--flat', '--output-format=csv'))
  const total = rows.at(-1)?.[1] ?? '0'
  return BigInt((/^-?[\d.]+/.exec(total)?.[0] ?? '0').replace('.', '') || '0')
}
