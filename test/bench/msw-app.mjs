// Mock Service Worker as a server: its handlers with @mswjs/http-middleware, records in Maps. Started by peers.ts.
import { createRequire } from 'node:module'

const [, , folder, port] = process.argv
const require = createRequire(`${folder}/package.json`)
const { http, HttpResponse } = require('msw')
const { createServer } = require('@mswjs/http-middleware')

const records = new Map()
const users = Array.from({ length: 100 }, (_, n) => ({
  id: `user-${n}`,
  email: `user-${n}@example.com`,
  first_name: 'First',
  last_name: `Last ${n}`,
  permissions: { role: 'member', agent_ids: [] },
}))

function keep(record) {
  const made = { ...record, id: String(records.size + 1) }
  records.set(made.id, made)
  return HttpResponse.json(made)
}

const server = createServer(
  http.get('/v1/organization/teamspaces/:id/users', () => HttpResponse.json({ object: 'list', data: users })),
  http.post('/v1/pages', async ({ request }) => keep(await request.json())),
  http.post('/v1/batch-predictions', async ({ request }) => {
    const { items, model } = await request.json()
    return keep({ status: 'completed', model, request_counts: { total: items.length } })
  }),
  http.get('/v1/batch-predictions/:id', ({ params }) => HttpResponse.json(records.get(params.id))),
)
server.listen(Number(port), '127.0.0.1')
