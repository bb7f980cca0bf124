#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// A command is over in a moment: most of that is reading the program, which the cache halves.
enableCompileCache()
const [{ runOps }, { terminal }] = await Promise.all([import('./run.ts'), import('./terminal/terminal.ts')])

const code = await runOps(process.argv.slice(2), terminal())
// Output that could not be written has set one already.
process.exitCode ??= code
