// The baseline: a hand-written server. Express 5, records in Maps, no durability, no checks.
import express from 'express'

const app = express()
app.use(express.json({ limit: '100mb' }))

const pages = new Map()
const batches = new Map()
const users = Array.from({ length: 100 }, (_, n) => ({
  id: `user-${n}`,
  email: `user-${n}@example.com`,
  first_name: 'First',
  last_name: `Last ${n}`,
  permissions: { role: 'member', agent_ids: [] },
}))
let ids = 0

app.post('/v1/pages', (req, res) => {
  const page = {
    object: 'page',
    id: String(++ids),
    name: req.body.name,
    teamspace_id: 'ts-a',
    scope: 'teamspace',
    created_at: new Date().toISOString(),
  }
  pages.set(page.id, page)
  res.json(page)
})

app.get('/v1/organization/teamspaces/:id/users', (_req, res) => {
  res.json({ object: 'list', data: users, has_more: false })
})

app.post('/v1/batch-predictions', (req, res) => {
  const now = new Date()
  const batch = {
    object: 'batch_prediction',
    id: String(++ids),
    status: 'completed',
    model: req.body.model,
    created_at: now.toISOString(),
    request_counts: { total: req.body.items.length, processing: 0, succeeded: req.body.items.length },
    metadata: req.body.metadata ?? {},
  }
  batches.set(batch.id, { batch, items: req.body.items })
  res.json(batch)
})

app.get('/v1/batch-predictions/:id', (req, res) => res.json(batches.get(req.params.id).batch))

app.get('/v1/batch-predictions/:id/results', (req, res) => {
  res.type('application/x-ndjson')
  for (const { custom_id } of batches.get(req.params.id).items) {
    const line = {
      object: 'batch_prediction.result',
      batch_id: req.params.id,
      custom_id,
      status: 'succeeded',
    }
    res.write(`${JSON.stringify({ ...line, output: { vendor: 'a', total: 1 }, error: null })}\n`)
  }
  res.end()
})

const server = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`)
})
