import { createRequire } from 'node:module'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

/** JSON lines; in a terminal, where pino-pretty is installed (it is for development), lines for people. */
export function makeLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  return process.stdout.isTTY && isInstalled('pino-pretty')
    ? pino({ level: logLevel, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } })
    : pino({ level: logLevel })
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
