#!/usr/bin/env node
import { runOps } from './run.ts'
import { terminal } from './terminal.ts'

process.exitCode = await runOps(process.argv.slice(2), terminal())
