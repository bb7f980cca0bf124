// The part of the client that a receiver of webhooks bundles.
export { verifyWebhook } from '@mkopo/client'
