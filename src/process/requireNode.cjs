// Refuses a Node that is too old, in one line. It is loaded before all else, and is JavaScript that such a Node reads: it
// reads no TypeScript, and would answer with a stack.

const { engines } = require('../../package.json')

const needed = Number(/\d+/.exec(engines.node)[0])
const found = process.versions.node

if (Number(found.split('.')[0]) < needed) {
  process.stderr.write(
    `mkopo needs Node ${needed} or newer, and this is Node ${found} (${process.execPath}): install it, or run npm ci without --omit=dev, which brings it\n`,
  )
  process.exit(1)
}
