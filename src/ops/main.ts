import { enableCompileCache } from 'node:module'

// A command takes a moment, most of it for loading the program, which the compile cache halves.
enableCompileCache()
const [{ runOps }, { terminal }] = await Promise.all([import('./run.ts'), import('./terminal/terminal.ts')])

const code = await runOps(process.argv.slice(2), terminal())
// A failed write of the output has set an exit code already.
process.exitCode ??= code
