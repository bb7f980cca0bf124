import type { Command } from 'commander'
import type { Shell } from '../perform.ts'

export function bookCommands(program: Command, _shell: Shell): void {
  program.command('book').description('the whole book: check, import, export')
}
