#!/usr/bin/env node
// The command `mkopo`: first what refuses a Node that reads no TypeScript, and then the command line.
import '../process/requireNode.cjs'

await import('./main.ts')
