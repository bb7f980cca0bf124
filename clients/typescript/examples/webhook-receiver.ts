// Receives webhooks on a port, and answers once the event is kept.
import { createServer } from 'node:http'
import { MkopoError, verifyWebhook } from '@mkopo/client'

const { WEBHOOK_SECRETS = '', PORT = '8080' } = process.env
const kept = new Set<string>()

createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    const event = await verifyWebhook(Buffer.concat(chunks), request.headers, WEBHOOK_SECRETS.split(','))
    // A delivery may come twice.
    if (!kept.has(event.id)) console.log(`${event.id} ${event.type}`)
    kept.add(event.id)
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(error instanceof MkopoError ? 401 : 500).end()
  }
}).listen(Number(PORT), () => console.log(`listens on ${PORT}`))
