import { once } from 'node:events'
import type { Command } from 'commander'
import { readCallerConfig } from '../../app/config.ts'
import type { Shell } from '../perform.ts'

/**
 * Adds `mkopo mcp`: a server of the Model Context Protocol on stdin and stdout, over a running service. It opens no database: it
 * has the rights of the caller whose credential it is given, and no others.
 */
export function mcpCommand(program: Command, { io }: Shell): void {
  program
    .command('mcp')
    .description('let an agent read the book of a running service, over MCP on stdin and stdout')
    .option(
      '--propose',
      'let it ask for changes too, which wait for a second person; its account needs the role PROPOSER',
    )
    .addHelpText(
      'after',
      '\nIt signs in with MKOPO_TOKEN (a token or an API key), or MKOPO_EMAIL and MKOPO_PASSWORD, at AUTH_URL, BASE_URL and RECORDS_URL.',
    )
    .action(async ({ propose = false }: { propose?: boolean }) => {
      const config = readCallerConfig()
      // Loaded here: no other command needs the protocol.
      const [{ StdioServerTransport }, { createMcpServer }, { serviceAt }, { sendOverHttp }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/stdio.js'),
        import('./server.ts'),
        import('./service.ts'),
        import('./http.ts'),
      ])
      const server = createMcpServer({ service: serviceAt(config, sendOverHttp), proposes: propose })
      const { input, output } = io.streams
      // The client leaves, or the run is asked to stop.
      const ended = Promise.race([once(input, 'end'), once(input, 'close'), aborted(io.stopping)])
      await server.connect(new StdioServerTransport(input, output))
      await ended
      await server.close()
    })
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, 'abort'))
