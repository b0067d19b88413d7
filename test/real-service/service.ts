import { createHash, randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import express, { type Request, type Response } from 'express'

// Plays the real service. It shares no code with src, and differs wherever the specification leaves a choice: ids, order,
// names, statuses, gzip. It also has small bugs, which are marked.

type Fields = Record<string, unknown>
type Row = Fields & { id: string }

const KEYS: Record<string, { user: string; teamspace: string }> = {
  sk_live_9fK2mQ7xR4tZ8wLb: { user: 'usr_ada', teamspace: 'ts_north' },
  sk_live_5vN1cJ6yH3pD0sGe: { user: 'usr_lin', teamspace: 'ts_south' },
}

const START = Date.parse('2026-02-03T08:00:00Z')

/** An answer, before a test changes it. */
export interface Answer {
  status: number
  headers: OutgoingHttpHeaders
  body: unknown
}

/** A service with its data; its clock moves one second with each request. */
export class RealService {
  /** Such as `GET /api/v1/agents`. */
  readonly requests: string[] = []
  readonly #change: (url: string, answer: Answer) => void
  #ticks = 0
  #ids = 0
  readonly teamspaces: Row[]
  readonly users: Record<string, Row[]>
  readonly pages: Row[] = []
  readonly skills: Row[]
  readonly servers: (Row & { teamspace: string })[]
  readonly views: (Row & { teamspace: string })[]
  readonly agents: (Row & { teamspace: string })[]
  readonly automations: (Row & { agent: string })[] = []
  readonly triggers: (Row & { agent: string })[] = []
  readonly conversations: (Row & { teamspace: string })[]
  readonly messages: Row[]
  readonly batches = new Map<string, { batch: Row; items: Fields[]; polls: number; teamspace: string }>()
  readonly rows: Fields[]

  constructor(change: (url: string, answer: Answer) => void = () => {}) {
    this.#change = change
    this.teamspaces = [
      this.#teamspace('ts_north', 'North yard', 'stratus'),
      this.#teamspace('ts_south', 'South yard', 'nimbus'),
    ]
    this.users = {
      ts_north: [
        person('usr_ada', 'Ada', 'Lovelace', 'owner'),
        ...Array.from({ length: 23 }, (_, n) =>
          person(`usr_n${n}`, `Nora${n}`, `Northrup${n}`, n % 3 ? 'editor' : 'viewer'),
        ),
      ],
      ts_south: [
        person('usr_lin', 'Lin', 'Südermann', 'owner'),
        person('usr_n1', 'Nora1', 'Northrup1', 'viewer'),
      ],
    }
    this.skills = ['Estimate', 'Summarise', 'Translate'].map((name, n) => ({
      ...{ object: 'skill', id: `skl_${n}`, scope: 'user', category: 'research' },
      ...{ slash_key: name.toLowerCase(), name: `${name} for Ada Lovelace`, enabled: n !== 1 },
      description: `Asks ada.lovelace@northyard.test about ${name}`,
      instructions: 'Call +44 20 7946 0958 and ask for Ada.',
      ...{ required_tools: ['search'], preferred_tools: [], creator_id: 'usr_ada' },
      ...{ account_id: null, builtin_key: null, promoted_at: null },
      ...{ created_at: this.at(-5000), updated_at: this.at(-4000) },
    }))
    this.servers = Array.from({ length: 4 }, (_, n) => ({
      ...{ object: 'mcp_server', id: `mcp_${n}`, name: `Plans of Ada ${n}`, status: 'connected' },
      icon_url: `https://cdn.northyard.test/${n}.png?sig=Zm9vYmFyYmF6${n}&expires=1790000000`,
      ...{ base_url: `https://mcp${n}.northyard.test/sse`, transport: 'sse', protocol_version: '2025-06-18' },
      metadata: {
        ...{ requires_oauth: true, oauth_configured: n > 1 },
        ...{ tool_count: n, last_synced_at: this.at(-300) },
      },
      ...{ created_at: this.at(-9000 - n), updated_at: this.at(-800), authorization_secret_id: `sec_${n}` },
      managed_by_app: { app_uuid: `app-${n}`, app_name: 'Planner' },
      teamspace: n === 3 ? 'ts_south' : 'ts_north',
    }))
    this.views = Array.from({ length: 7 }, (_, n) => ({
      ...{ object: 'data_view', id: `dv_${n}`, lake_dataset_name: `north_yard_${n}`, teamspace: 'ts_north' },
      ...{ created_at: this.at(-7000 + n), knowledge_id: `kn_${n % 2}`, service_account_id: 'sa_1' },
    }))
    this.agents = Array.from({ length: 5 }, (_, n) => ({
      ...{ id: `agt_${n}`, title: `Helper of Ada ${n}`, model: 'm-large' },
      ...{ created_at: this.at(-6000 + n), teamspace: 'ts_north' },
    }))
    this.conversations = Array.from({ length: 6 }, (_, n) => ({
      ...{ object: 'conversation', id: `cnv_${n}`, title: `Ada and Lin, part ${n}` },
      ...{ created_at: this.at(-600 + n), teamspace: n === 5 ? 'ts_south' : 'ts_north' },
    }))
    this.messages = Array.from({ length: 30 }, (_, n) => ({
      ...{ object: 'message', id: uuidOf(n), conversation_id: `cnv_${n % 5}`, created_at: this.at(-500 + n) },
      role: n % 2 ? 'assistant' : 'user',
      content: [{ type: 'text', text: `Dear Ada Lovelace, item ${n} of 12 Analytical Lane is done.` }],
    }))
    this.rows = Array.from({ length: 45 }, (_, n) => ({
      ...{ object: 'consumption_breakdown', credits: n * 1.25, created_at: this.at(-100_000 * n) },
      ...{ action: n % 2 ? 'converse' : 'extract', organization: 'Northyard Ltd' },
      ...{ resource: `Helper of Ada ${n % 5}`, resource_type: 'agent', credit_source: 'plan' },
    }))
  }

  at(seconds = 0): string {
    return new Date(START + (this.#ticks + seconds) * 1000).toISOString()
  }

  /** The fixed routes, on a free port of this machine. */
  async listen() {
    const server = this.app().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const close = () => new Promise((resolve) => server.close(resolve))
    return { base: `http://127.0.0.1:${port}/api/v1`, close }
  }

  app() {
    const app = express()
    const api = express.Router()
    app.disable('x-powered-by')
    app.use(express.json({ limit: '20mb' }))
    app.use('/api/v1', api)
    api.use((request, response, next) => {
      this.#ticks += 1
      const { method, originalUrl } = request
      this.requests.push(`${method} ${originalUrl}`)
      const key = KEYS[(request.get('authorization') ?? '').replace('Bearer ', '')]
      response.locals = { ...key, change: (answer: Answer) => this.#change(originalUrl, answer) }
      const limits = { Limit: '500', Remaining: '499', Reset: '1790000000' }
      for (const [name, value] of Object.entries(limits)) response.set(`X-RateLimit-${name}`, value)
      response.cookie('session', `s3ss10n-${this.#ticks}-QwErTyUiOp`)
      if (key === undefined) fail(response, 401, 'bad_token')
      else next()
    })
    this.#workspace(api)
    this.#agentRoutes(api)
    this.#batchRoutes(api)
    // Paths without a contract.
    api.get('/conversations', (_, response) =>
      sendList(response, own(response, this.conversations), { has_more: false }),
    )
    api.get('/conversations/:id/messages', ({ params }, response) =>
      sendList(
        response,
        this.messages.filter((each) => each.conversation_id === params.id),
      ),
    )
    api.post('/converse', (_, response) => {
      const answer = { object: 'answer', id: this.#id('ans'), text: 'Hello Ada Lovelace' }
      const lines = [{ event: 'start' }, answer]
      response.type('application/x-ndjson').send(lines.map((line) => `${JSON.stringify(line)}\n`).join('\n'))
    })
    api.get('/knowledge', (_, response) =>
      send(
        response,
        [0, 1].map((n) => ({ id: `kn_${n}`, label: `Papers of Ada ${n}`, size: 7 * n })),
      ),
    )
    api.get('/knowledge/:id', ({ params }, response) =>
      send(response, { id: params.id, label: 'Papers of Ada Lovelace', size: 70, changed_at: this.at() }),
    )
    api.use((_, response) => fail(response, 404, 'no_such_route'))
    return app
  }

  #workspace(api: express.Router): void {
    api.post('/organization/teamspaces', ({ body }, response) => {
      const made = {
        ...this.#teamspace(this.#id('ts'), body.name, body.cloud_provider ?? 'stratus'),
        access: body.access ?? 'open',
      }
      this.teamspaces.push(made)
      // Bug: a field that no other response has.
      send(response, { ...made, plan: 'trial' }, 201)
    })
    api.patch('/organization/teamspaces/:id', ({ body, params }, response) => {
      const found = this.teamspaces.find(({ id }) => id === params.id)
      if (found === undefined) return fail(response, 404, 'missing')
      send(response, Object.assign(found, body))
    })
    api.get('/organization/teamspaces/:id/users', (request, response) =>
      page(request, response, this.users[request.params.id] ?? []),
    )
    api.delete('/organization/teamspaces/:id/users/:user', ({ params }, response) => {
      this.users[params.id] = (this.users[params.id] ?? []).filter(({ id }) => id !== params.user)
      response.status(204).end()
    })
    api.post('/pages', ({ body }, response) => {
      const { user, teamspace } = response.locals
      const made = {
        ...{ object: 'page', id: this.#id('pg'), name: body.name, scope: 'teamspace' },
        ...{ teamspace_id: teamspace, created_at: this.at() },
      }
      this.pages.push(made)
      // Bug: a page without a parent has null.
      send(response, { ...made, parent: body.parent ?? null, ...(user === '' && { user }) }, 201)
    })
    api.post('/skills/:id/promote', ({ params }, response) => {
      const found = this.skills.find(({ id }) => id === params.id)
      if (found === undefined) return fail(response, 404, 'missing')
      const stamps = { promoted_at: this.at(), updated_at: this.at() }
      send(response, Object.assign(found, { scope: 'account', account_id: 'acc_northyard', ...stamps }))
    })
    api.get('/organization/mcp-servers', (_, response) => sendList(response, own(response, this.servers)))
    api.get('/data-views', ({ query }, response) => {
      const [from, limit] = [Number(query.offset ?? 0), Number(query.limit ?? 20)]
      sendList(response, own(response, this.views).slice(from, from + limit))
    })
    api.get('/organization/reports/consumption-breakdown', (request, response) => {
      const [from, limit] = [Number(request.query.after ?? -1) + 1, Number(request.query.limit ?? 10)]
      const data = this.rows.slice(from, from + limit)
      const ends = { first_id: String(from), last_id: String(from + data.length - 1) }
      sendList(response, data, { has_more: from + limit < this.rows.length, ...ends })
    })
    api.post('/connections', (_, response) =>
      send(response, {
        object: 'redirect_url',
        redirect_url: `https://login.test/?state=${randomUUID()}&client_id=x`,
      }),
    )
  }

  #agentRoutes(api: express.Router): void {
    api.get('/agents', (_, response) => sendList(response, own(response, this.agents), { has_more: false }))
    for (const [path, list, prefix] of [
      ['automations', this.automations, 'aut'],
      ['event-triggers', this.triggers, 'trg'],
    ] as const) {
      const stamped = () => ({ updated_at: this.at() })
      const trigger = { object: 'event_trigger', enabled: true, warnings: [] }
      const unsaid = { name: null, description: null, run_conditions: null }
      const fresh = prefix === 'aut' ? {} : { ...trigger, ...unsaid }
      api.get(`/agents/:agent/${path}`, ({ params }, response) =>
        sendList(response, list.filter((each) => each.agent === params.agent).map(visible), {
          has_more: false,
        }),
      )
      api.post(`/agents/:agent/${path}`, ({ body, params }, response) => {
        const made = {
          ...{ ...fresh, id: this.#id(prefix), ...body },
          ...{ created_at: this.at(), ...stamped(), agent: params.agent },
        }
        list.push(made)
        send(response, visible(made), 201)
      })
      api.patch(`/agents/:agent/${path}/:id`, ({ body, params }, response) => {
        const found = list.find(({ id }) => id === params.id)
        if (found === undefined) return fail(response, 404, 'missing')
        send(response, visible(Object.assign(found, body, stamped())))
      })
      api.delete(`/agents/:agent/${path}/:id`, ({ params }, response) => {
        const at = list.findIndex(({ id }) => id === params.id)
        list.splice(at, 1)
        response.status(204).end()
      })
    }
  }

  #batchRoutes(api: express.Router): void {
    api.post('/batch-predictions', ({ body }, response) => {
      const batch = {
        ...{ object: 'batch_prediction', id: this.#id('bp'), status: 'validating', model: body.model },
        ...{ completion_window: '24h', created_at: this.at(), expires_at: this.at(86_400), ...NOT_YET },
        ...{ metadata: body.metadata ?? {}, request_counts: counts(body.items.length, 0, 0) },
        ...{ error: null, results_url: null },
      }
      this.batches.set(batch.id, { batch, items: body.items, polls: 0, teamspace: response.locals.teamspace })
      send(response, batch, 202)
    })
    api.get('/batch-predictions/:id', ({ params }, response) => {
      const found = this.batches.get(params.id)
      if (found === undefined) return void problem(response, 404)
      this.#poll(found)
      send(response, found.batch)
    })
    api.post('/batch-predictions/:id/cancel', ({ params }, response) => {
      const found = this.batches.get(params.id)
      if (found === undefined) return void problem(response, 404)
      Object.assign(found.batch, { status: 'cancelling', cancelling_at: this.at() })
      send(response, found.batch)
    })
    api.get('/batch-predictions/:id/results', ({ params }, response) => {
      const found = this.batches.get(params.id)
      if (found === undefined) return void problem(response, 404)
      // Bug: it has blank lines.
      const lines = found.items.map((item, n) => `${JSON.stringify(lineOf(found.batch, item, n))}\n`)
      zipped(response.type('application/x-ndjson'), lines.join('\n'))
    })
  }

  #poll(found: { batch: Row; items: Fields[]; polls: number }): void {
    const { batch, items } = found
    found.polls += 1
    const total = items.length
    const errored = Math.floor(total / 4)
    const results_url = `/api/v1/batch-predictions/${batch.id}/results`
    if (batch.status === 'cancelling') {
      const end = { request_counts: counts(total, 0, 0, total), error: { code: 'stopped' }, results_url }
      Object.assign(batch, { status: 'cancelled', cancelled_at: this.at(), ...end })
    } else if (found.polls === 1) Object.assign(batch, { status: 'in_progress', in_progress_at: this.at() })
    else if (found.polls === 3 && batch.status === 'in_progress') {
      const request_counts = counts(total, total - errored, errored)
      const times = { finalizing_at: this.at(), completed_at: this.at() }
      Object.assign(batch, { status: 'completed', ...times, request_counts, results_url })
    }
  }

  #teamspace(id: string, name: string, cloud_provider: string): Row {
    return { id, cloud_provider, name, access: 'closed', created_at: this.at(-90_000) }
  }

  #id(prefix: string): string {
    this.#ids += 1
    return `${prefix}_${createHash('md5').update(String(this.#ids)).digest('base64url').slice(0, 10)}`
  }
}

const person = (id: string, first_name: string, last_name: string, role: string): Row => ({
  ...{ id, first_name, last_name, email: `${first_name}.${id}@northyard.test`.toLowerCase() },
  permissions: { role, agent_ids: role === 'owner' ? ['agt_0'] : [] },
})

const NOT_YET = Object.fromEntries(
  ['in_progress', 'finalizing', 'completed', 'failed', 'cancelling', 'cancelled', 'expired'].map((state) => [
    `${state}_at`,
    null,
  ]),
)

const uuidOf = (n: number) => `0f0e0d0c-0b0a-4908-8706-${String(n).padStart(12, '0')}`

const counts = (total: number, succeeded: number, errored: number, canceled = 0) => ({
  ...{ total, processing: total - succeeded - errored - canceled, succeeded, errored, canceled, expired: 0 },
})

export function lineOf(batch: Row, { custom_id }: Fields, n: number): Fields {
  const line = { object: 'batch_prediction.result', batch_id: batch.id, custom_id }
  const type = 'https://errors.test/item'
  const error = (status: number, detail: string) => ({ type, title: 'Item', status, detail })
  if (batch.status === 'cancelled')
    return { ...line, status: 'canceled', output: null, error: error(499, 'Stopped.') }
  if (n % 4 === 3)
    return { ...line, status: 'errored', output: null, error: error(422, `Page of Ada ${n} is blank.`) }
  return {
    ...line,
    status: 'succeeded',
    output: { signer: 'Ada Lovelace', total: n * 3, phone: `+44 20 7946 ${1000 + n}` },
    error: null,
  }
}

const visible = ({ teamspace, agent, ...rest }: Fields) => rest

function page({ query }: Request, response: Response, all: readonly Row[]): void {
  // In the order of their names, unlike the emulator.
  const sorted = [...all].sort((a, b) => (String(a.last_name) < String(b.last_name) ? -1 : 1))
  const from = sorted.findIndex(({ id }) => id === query.after) + 1
  const limit = Number(query.limit ?? 10)
  sendList(response, sorted.slice(from, from + limit), { has_more: from + limit < sorted.length })
}

const own = (response: Response, rows: readonly (Row & { teamspace: string })[]) =>
  rows.filter(({ teamspace }) => teamspace === response.locals.teamspace).map(visible)

const sendList = (response: Response, data: readonly unknown[], more: Fields = {}) =>
  send(response, { object: 'list', data, ...more })

function send(response: Response, body: unknown, status = 200): void {
  const answer: Answer = { status, headers: { ...response.getHeaders() }, body }
  response.locals.change(answer)
  for (const name of response.getHeaderNames())
    if (answer.headers[name] === undefined) response.removeHeader(name)
  response.set(answer.headers).status(answer.status).type('application/json; charset=utf-8')
  zipped(response, JSON.stringify(answer.body))
}

const zipped = (response: Response, text: string) =>
  void response.set('Content-Encoding', 'gzip').send(gzipSync(text))

function fail(response: Response, status: number, error: string): void {
  const body = { status_code: status, error, message: `No: ${error}`, retryable: false, details: {} }
  send(response, body, status)
}

const problem = (response: Response, status: number) =>
  response
    .status(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: 'https://errors.test/none', title: 'None', status, detail: 'None' }))
