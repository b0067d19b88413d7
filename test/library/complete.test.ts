import { expect, test } from 'vitest'
import { emulatorClient } from '../../src/adapters/control/client/client.ts'
import type { Interventions } from '../../src/adapters/control/client/interventions.ts'
import type { Transport } from '../../src/adapters/control/client/transport.ts'
import { controlRoutes } from '../../src/adapters/control/routes/index.ts'
import { interventionRoutes } from '../../src/adapters/control/routes/interventions.ts'
import { workspaceService } from '../../src/service.ts'

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

/** The interventions that are typed by hand; the compiler finds one that is missing or too many. */
const TYPED: Readonly<Record<keyof Interventions, true>> = {
  'GET /batches/{id}': true,
  'PATCH /batches/{id}': true,
  'POST /batches/{id}/fail': true,
  'POST /batches/{id}/expire': true,
  'POST /batches/{id}/complete': true,
  'POST /batches/{id}/cleanup': true,
  'GET /webhooks': true,
  'POST /webhooks': true,
  'DELETE /webhooks': true,
  'DELETE /webhooks/{id}': true,
  'GET /webhooks/deliveries': true,
  'POST /webhooks/deliveries/{id}/redeliver': true,
  'POST /provider-events': true,
  'GET /agent-runs': true,
  'POST /mcp-oauth-flows': true,
  'POST /teamspaces/{teamspace_id}/join': true,
  'GET /connections/{id}': true,
}

/** What the client asks for otherwise than by a transport. */
const STREAMED = ['GET /events']

test('every intervention that a resource declares has its types in the client', () => {
  expect(interventionRoutes(workspaceService).map(nameOf).sort()).toEqual(Object.keys(TYPED).sort())
})

test('every route of the control interface is asked by some method of the client, and no other is', async () => {
  const { asked, transport } = recorder()
  const address = { url: 'http://127.0.0.1:1' }
  const client = emulatorClient({ address, transport, fixtures: 'empty' })
  const { defaultSandbox: sandbox, ...rest } = client
  await callAll(rest)
  await callAll(await sandbox.faults.arm({ preset: 'rate-limited' }))
  await callAll(sandbox)
  const known = controlRoutes(workspaceService).map(nameOf)
  expect([...asked, ...STREAMED].sort()).toEqual(known.sort())
})

/** A transport that answers anything with what the client needs to go on. */
function recorder() {
  const asked = new Set<string>()
  const transport: Transport = async ({ route }) => {
    asked.add(route)
    const isList = route.startsWith('GET /state/{collection}')
    return { status: 200, body: isList ? { data: [] } : { id: 'x', passed: true, status: 'ready' } }
  }
  return { asked, transport }
}

/** Calls every method of an object and of its parts, each with arguments that the type of none is looked at. */
async function callAll(part: object): Promise<void> {
  for (const name of Object.keys(part)) {
    // Its keys are looked up over the transport, and cannot be read before.
    if (['apiKey', 'keys', 'events', 'fetch'].includes(name)) continue
    const member: unknown = part[name as keyof typeof part]
    // These look at their options, which may be left out.
    const rest = WITHOUT_OPTIONS[name] ?? ['name', ARGUMENT, ARGUMENT]
    if (typeof member === 'function') await member(...rest)
    else if (typeof member === 'object' && member !== null) await callAll(member)
  }
}

const WITHOUT_OPTIONS: Readonly<Record<string, readonly unknown[]>> = { ready: [], wait: [], advance: ['1h'] }

const ARGUMENT = { id: 'x' }
