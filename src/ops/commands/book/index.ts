import type { Command } from 'commander'
import type { Shell } from '../../perform.ts'
import { checkCommand } from './check.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { sealCommand } from './seal.ts'

export function bookCommands(program: Command, shell: Shell): void {
  const book = program.command('book').description('the whole book: check, seal, import, export')
  checkCommand(book, shell)
  sealCommand(book, shell)
  importCommand(book, shell)
  exportCommand(book, shell)
}
