import { connect, type EmulatorClient, type SandboxClient } from 'agent-workspace-emulator'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { Settings } from '../../src/core/assumptions.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { VERSION_HEADER } from '../../src/server/control/route.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { RouteTable } from '../../src/server/route-table.ts'

// What the routes do is tested in test/spec; here, which route each method calls, with which query and body.

type Call = (sandbox: SandboxClient, client: EmulatorClient) => Promise<unknown>

const DRAFT = { match: 'everything', do: [{ respond: { status: 503 } }] } as const
const STUB = { method: 'GET', path: '/search' } as const
const DOCUMENT = { format: 2 } as never
const arm = ({ faults }: SandboxClient) => faults.arm({ ...DRAFT, id: 'f' })
const gate = ({ gates }: SandboxClient) => gates.hold('everything', { at: 'after-handler' })
type Gate = Awaited<ReturnType<typeof gate>>
/** A call of a gate that is held. */
const gated = (call: (held: Gate) => Promise<unknown>) => async (sandbox: SandboxClient) =>
  call(await gate(sandbox))
const GET = { method: 'GET' } as const
const ONCE = { exactly: 1 }
const OAUTH = { server_id: 's', redirect_uri: 'http://a/' }
const PROVIDED = { source: 's', event: 'e' }
const FAILED = { type: 'batch_prediction.failed' } as const

/** The last request of each call, without the path of the sandbox, and its body. */
const CALLS: readonly (readonly [request: string, call: Call, body?: unknown])[] = [
  ['GET /', (_, client) => client.routes()],
  ['GET /health', (_, client) => client.health()],
  ['GET /openapi.json?api=control', (_, client) => client.openapi()],
  ['GET /openapi.json?api=workspace', (_, client) => client.openapi('workspace')],
  ['GET /operations', (_, client) => client.operations()],
  ['GET /problems', (_, client) => client.problems()],
  ['GET /problems/conflict', (_, client) => client.problem('conflict')],
  ['POST /shutdown', (_, client) => client.shutdown()],
  ['GET /sandboxes', (_, client) => client.sandboxes.list()],
  ['GET /sandboxes/w1', (_, client) => client.sandboxes.show('w1')],
  ['DELETE /sandboxes/w1', (_, client) => client.sandboxes.delete('w1')],
  ['GET /clock', ({ clock }) => clock.show()],
  ['PATCH /clock', ({ clock }) => clock.set({ rate: 60 }), { rate: 60 }],
  ['POST /clock/advance', ({ clock }) => clock.advance('90s'), { by: '90s' }],
  ['POST /clock/advance', ({ clock }) => clock.advance({ steps: 1 }), { steps: 1 }],
  ['GET /clock/advance', ({ clock }) => clock.latestAdvance()],
  ['GET /clock/horizon', ({ clock }) => clock.horizon()],
  ['GET /faults', ({ faults }) => faults.list()],
  ['POST /faults', ({ faults }) => faults.arm(DRAFT), DRAFT],
  ['POST /faults', ({ faults }) => faults.armAll([DRAFT, DRAFT]), [DRAFT, DRAFT]],
  ['POST /faults', ({ faults }) => faults.preset('slow', { times: 2 }), { preset: 'slow', times: 2 }],
  ['GET /faults/f', ({ faults }) => faults.get('f')],
  ['DELETE /faults', ({ faults }) => faults.clear()],
  ['GET /fault-presets', ({ faults }) => faults.presets()],
  ['GET /fault-presets', ({ faults }) => faults.magicValues()],
  ['GET /fault-presets/slow', ({ faults }) => faults.showPreset('slow')],
  ['GET /faults/x', async (sandbox) => (await arm(sandbox)).show()],
  ['PATCH /faults/x', async (sandbox) => (await arm(sandbox)).change({ times: null }), { times: null }],
  ['POST /faults/x/reset', async (sandbox) => (await arm(sandbox)).reset()],
  ['DELETE /faults/x', async (sandbox) => (await arm(sandbox)).remove()],
  ['GET /gates', ({ gates }) => gates.list()],
  ['POST /faults', gate, { preset: 'gate', match: 'everything', do: [{ gate: { at: 'after-handler' } }] }],
  ['POST /gates/x/wait', gated((held) => held.waiting(2, { timeoutMs: 5 })), { count: 2, timeout_ms: 5 }],
  ['POST /gates/x/release', gated((held) => held.release({ count: 2 })), { count: 2 }],
  ['POST /gates/x/release', gated((held) => held.release({ requests: [{ id: 'b' }] })), { requests: ['b'] }],
  ['POST /gates/x/abort', gated((held) => held.abort())],
  ['DELETE /faults/x', gated((held) => held.remove())],
  ['GET /endpoints', ({ endpoints }) => endpoints.list()],
  ['GET /endpoints', ({ endpoints }) => endpoints.problems()],
  ['GET /stubs', ({ stubs }) => stubs.list()],
  ['GET /stubs/s', ({ stubs }) => stubs.show('s')],
  ['POST /stubs', ({ stubs }) => stubs.create(STUB), STUB],
  ['POST /stubs', ({ stubs }) => stubs.createAll([STUB, STUB]), [STUB, STUB]],
  ['DELETE /stubs/s', ({ stubs }) => stubs.remove('s')],
  ['DELETE /stubs', ({ stubs }) => stubs.clear()],
  ['GET /requests?limit=5&full=true', ({ requests }) => requests.list({ limit: 5, full: true })],
  ['GET /requests?method=GET&status=429&limit=1', ({ requests }) => requests.count({ ...GET, status: 429 })],
  ['GET /requests/har?since=r&limit=3', ({ requests }) => requests.har({ since: 'r', limit: 3 })],
  ['POST /requests/verify', ({ requests }) => requests.verify(GET, ONCE), { match: GET, count: ONCE }],
  [
    'POST /requests/wait',
    ({ requests }) => requests.wait(GET, { count: 2, timeoutMs: 5 }),
    { match: GET, count: 2, timeout_ms: 5 },
  ],
  ['GET /explain/r1', ({ requests }) => requests.explain('r1')],
  ['POST /requests/r1/resend', ({ requests }) => requests.resend('r1')],
  ['DELETE /requests', ({ requests }) => requests.clear()],
  ['GET /state', ({ state }) => state.document()],
  ['GET /state?secrets=true', ({ state }) => state.document({ secrets: true })],
  ['PUT /state', ({ state }) => state.load(DOCUMENT), DOCUMENT],
  ['POST /fixtures', ({ state }) => state.merge({ collections: {} }), { collections: {} }],
  ['GET /collections', ({ state }) => state.collections()],
  ['GET /collections/pages', ({ state }) => state.schema('pages')],
  ['GET /state/pages?secrets=true', ({ state }) => state.list('pages', { secrets: true })],
  ['GET /state/pages/page%2F%C3%BC%201', ({ state }) => state.get('pages', 'page/ü 1')],
  ['PUT /state/pages/p', ({ state }) => state.put('pages', { id: 'p', name: 'A' }), { id: 'p', name: 'A' }],
  ['PATCH /state/pages/p', ({ state }) => state.patch('pages', 'p', { name: null }), { name: null }],
  ['DELETE /state/pages/p', ({ state }) => state.delete('pages', 'p')],
  ['GET /snapshots', ({ snapshots }) => snapshots.list()],
  ['POST /snapshots', ({ snapshots }) => snapshots.save('s'), { name: 's' }],
  ['POST /snapshots/s/restore', ({ snapshots }) => snapshots.restore('s')],
  ['GET /snapshots/s?secrets=true', ({ snapshots }) => snapshots.export('s', { secrets: true })],
  ['PUT /snapshots/s', ({ snapshots }) => snapshots.import('s', DOCUMENT), DOCUMENT],
  ['DELETE /snapshots/s', ({ snapshots }) => snapshots.delete('s')],
  ['POST /reset', (sandbox) => sandbox.reset({ fixtures: 'empty', seed: 7 }), { fixtures: 'empty', seed: 7 }],
  ['GET /scenarios', ({ scenarios }) => scenarios.list()],
  ['GET /scenarios', ({ scenarios }) => scenarios.active()],
  ['GET /scenarios/s', ({ scenarios }) => scenarios.show('s')],
  ['POST /scenarios', ({ scenarios }) => scenarios.refresh()],
  ['POST /scenarios/s/start', ({ scenarios }) => scenarios.start('s', { reset: true }), { reset: true }],
  ['POST /scenarios/stop', ({ scenarios }) => scenarios.stop()],
  ['GET /webhooks', ({ webhooks }) => webhooks.list()],
  ['POST /webhooks', ({ webhooks }) => webhooks.create({ inbox: true }), { inbox: true }],
  ['PATCH /webhooks/h', ({ webhooks }) => webhooks.change('h', { secret: 's' }), { secret: 's' }],
  ['POST /webhooks/h/rotate', ({ webhooks }) => webhooks.rotate('h'), {}],
  ['DELETE /webhooks/h', ({ webhooks }) => webhooks.delete('h')],
  ['DELETE /webhooks', ({ webhooks }) => webhooks.clear()],
  ['GET /webhooks/inbox', ({ webhooks }) => webhooks.inbox()],
  ['GET /webhooks/deliveries', ({ webhooks }) => webhooks.deliveries()],
  ['POST /webhooks/deliveries/d/redeliver', ({ webhooks }) => webhooks.redeliver('d')],
  ['POST /webhooks/deliveries/d/inbox', ({ webhooks }) => webhooks.toInbox('d')],
  ['GET /limits', ({ limits }) => limits.list()],
  ['GET /limits', ({ limits }) => limits.show()],
  ['PUT /limits/pages.create', ({ limits }) => limits.set('pages.create', { limit: 5 }), { limit: 5 }],
  ['DELETE /limits', ({ limits }) => limits.clear()],
  ['DELETE /limits?operation=pages.create', ({ limits }) => limits.clear('pages.create')],
  ['POST /limits/a.b/fill', ({ limits }) => limits.fill('a.b', { remaining: 0 }), { remaining: 0 }],
  ['GET /settings', ({ settings }) => settings.show()],
  ['PATCH /settings', ({ settings }) => settings.change({ models: null }), { models: null }],
  ['GET /assumptions', ({ settings }) => settings.assumptions()],
  ['GET /coverage', (sandbox) => sandbox.coverage()],
  ['GET /conduct?retries=2&except=a%2Cb', (sandbox) => sandbox.conduct({ retries: 2, except: ['a', 'b'] })],
  ['GET /record', (sandbox) => sandbox.record()],
  ['GET /batches', ({ batches }) => batches.list()],
  ['GET /batches/b', ({ batches }) => batches.show('b')],
  ['GET /batches/b/results', ({ batches }) => batches.results('b')],
  ['PATCH /batches/b', ({ batches }) => batches.change('b', { hold: true }), { hold: true }],
  ['POST /batches/b/fail', ({ batches }) => batches.fail('b', { detail: 'Ink.' }), { detail: 'Ink.' }],
  ['POST /batches/b/complete', ({ batches }) => batches.complete('b')],
  ['POST /batches/b/expire', ({ batches }) => batches.expire('b')],
  ['POST /batches/b/cleanup', ({ batches }) => batches.cleanup('b')],
  ['GET /batches/b/results?limit=5&offset=9', ({ batches }) => batches.results('b', { limit: 5, offset: 9 })],
  ['POST /webhooks/trigger', ({ batches }) => batches.triggerWebhook(FAILED), FAILED],
  ['POST /provider-events', ({ agents }) => agents.emit(PROVIDED), PROVIDED],
  ['GET /agent-runs', ({ agents }) => agents.runs()],
  ['GET /agent-runs', ({ agents }) => agents.threads()],
  ['POST /mcp-oauth-flows', ({ mcpServers }) => mcpServers.startOauth(OAUTH), OAUTH],
  ['POST /teamspaces/t/join', ({ teamspaces: of }) => of.join('t', 'u', 'r'), { user_id: 'u', role: 'r' }],
  ['GET /connections/c', ({ connections }) => connections.show('c')],
  ['POST /sandboxes', (_, client) => client.sandbox('w1'), { name: 'w1' }],
  [
    'POST /sandboxes',
    (_, client) => client.sandbox('w1', { fromSnapshot: 's', skipOnPoll: true }),
    { name: 'w1', from_snapshot: 's', skip_on_poll: true },
  ],
  ['DELETE /sandboxes/default', (sandbox) => sandbox.delete()],
  ['GET /ready', (_, client) => client.ready()],
]

test.for(CALLS)('%s', async ([request, call, body]) => {
  const { asked } = await requestsOf(call)
  expect(asked).toContainEqual({ request, body })
})

test('every route of the control interface has a method, except the stream of events', async () => {
  const called = await Promise.all(CALLS.map(async ([, call]) => (await requestsOf(call)).routes))
  const known = controlRoutes(workspaceService).map(nameOf)
  expect([...new Set(called.flat()), 'GET /events'].sort()).toEqual(known.sort())
})

test('methods that list return an array, not the list object of the control interface', async () => {
  const returned = await Promise.all(CALLS.map(async ([, call]) => (await requestsOf(call)).returned))
  expect(returned.filter(Array.isArray).length).toBeGreaterThan(20)
  expect(returned).not.toContainEqual(expect.objectContaining({ object: 'list' }))
})

test.for(['', '.', '..'])('the id "%s" cannot be in a path, and no request is sent', async (id) => {
  const { asked, returned } = await requestsOf(({ state }) =>
    state.delete('pages', id).catch((error) => error),
  )
  const issues = [{ pointer: '/path/id' }]
  expect(returned).toMatchObject({ status: 400, code: 'validation_failed', issues })
  expect(asked).toEqual([])
})

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

/** Makes a call over a transport that responds with a minimal valid body, and records its requests. */
async function requestsOf(call: Call) {
  const asked: { readonly request: string; readonly body: unknown }[] = []
  const routes: string[] = []
  const table = new RouteTable(controlRoutes(workspaceService))
  const fetch = async (url: string | URL | Request, { method = 'GET', body }: RequestInit = {}) => {
    const { pathname, search } = new URL(String(url))
    const path = pathname.replace(/^(\/@[^/]*)?\/__emulator/, '') || '/'
    asked.push({ request: `${method} ${path}${search}`, body: body && JSON.parse(String(body)) })
    const match = table.match(method, path)
    if (match.kind !== 'route') throw new Error(`the client asks for ${method} ${url}`)
    routes.push(nameOf(match.route))
    const output = match.route.output(new Settings())
    const isList = output instanceof z.ZodObject && 'data' in output.shape
    const answer = isList
      ? { object: 'list', data: [] }
      : { id: 'x', passed: true, status: 'ready', routes: [] }
    return Response.json(answer, { headers: { [VERSION_HEADER]: '0.0.0' } })
  }
  const client = connect('http://127.0.0.1:1', { fetch })
  const returned = await call(client.defaultSandbox, client)
  return { asked, routes, returned }
}
