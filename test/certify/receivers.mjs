import { createHmac } from 'node:crypto'
import { verify } from '@octokit/webhooks-methods'
import express from 'express'
import { Webhook } from 'standardwebhooks'

// A receiver of webhooks: `node receivers.mjs PORT KIND`. The first two kinds are correct, each with a public library; the others
// have one bug each.

const [port, kind] = process.argv.slice(2)
const secret = process.env.WORKSPACE_WEBHOOK_SECRET
const handled = []
let queue = Promise.resolve()

const verified = (text, headers) => {
  try {
    return Boolean(new Webhook(secret).verify(text, headers))
  } catch {
    return false
  }
}

/** Whether the signature is valid, whatever the age of the webhook is. */
const isSigned = (text, headers) => {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(content).digest('base64')
  return String(headers['webhook-signature']).split(' ').includes(`v1,${expected}`)
}

const checks = {
  standardwebhooks: verified,
  octokit: (text, headers) => verify(secret, text, headers['x-hub-signature-256'] ?? 'none'),
  'no-check': () => true,
  'body-parsed-first': (text, headers) => verified(JSON.stringify(JSON.parse(text), null, 1), headers),
  'first-signature-only': (text, headers) =>
    verified(text, {
      ...headers,
      'webhook-signature': String(headers['webhook-signature'] ?? '').split(' ')[0],
    }),
  'known-types-only': verified,
  'no-time-check': isSigned,
  'every-delivery-counts': verified,
  'one-at-a-time': verified,
}

const app = express()
app.get('/count', (_, res) => res.json({ count: handled.length }))
app.post('/hook', express.raw({ type: () => true }), async (req, res) => {
  const text = req.body.toString()
  const isValid = await checks[kind](text, req.headers)
  if (!isValid) return res.sendStatus(401)
  if (kind === 'known-types-only' && !/completed$/.test(req.headers['x-emulator-event']))
    return res.sendStatus(400)
  const id = req.headers['webhook-id'] ?? req.headers['x-emulator-delivery']
  if (kind === 'every-delivery-counts' || !handled.includes(id)) handled.push(id)
  if (kind === 'one-at-a-time') {
    queue = queue.then(() => new Promise((resolve) => setTimeout(resolve, 100)))
    await queue
  }
  res.sendStatus(204)
})
app.listen(Number(port), '127.0.0.1')
