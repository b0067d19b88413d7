import * as z from 'zod'
import { refuseInvalid } from '../../../kernel/errors.ts'
import { anyObject } from '../../../kernel/fields.ts'
import { type Issue, isObject, type JsonObject } from '../../../kernel/json.ts'
import { countRecords } from '../../../kernel/state/state.ts'
import { formatInstant } from '../../../kernel/time/instant.ts'
import { nameField } from '../../../kernel/worlds/names.ts'
import type { Origin } from '../../../kernel/worlds/origin.ts'
import type { Sandbox } from '../../../kernel/worlds/sandbox.ts'
import { DEFAULT_SANDBOX, type SandboxEntry, type Sandboxes } from '../../../kernel/worlds/sandboxes.ts'
import type { ControlHost } from '../host.ts'
import { refuseFixtures } from '../refuse-fixtures.ts'
import { BASE, route, WORLD_BODY } from '../route.ts'
import { foreignExtends, originOf, startingPoint } from '../starting-point.ts'

const newSandbox = () =>
  z.strictObject({
    name: nameField(),
    ...startingPoint(),
    settings: anyObject().optional(),
    persist: z.boolean().default(false),
    from_snapshot: z.string().optional(),
    scenario: z.string().optional(),
  })

type NewSandbox = z.output<ReturnType<typeof newSandbox>>

/** All worlds of the process. They are made on first use, too; these routes say from what. */
export const sandboxRoutes = [
  route({
    name: 'sandboxes.list',
    method: 'GET',
    path: '/sandboxes',
    summary: 'List every sandbox',
    answers: 'Each with its clock, its size and its paths.',
    worldless: true,
    handle: ({ host }) => ({ body: { object: 'list', data: host.sandboxes.list().map(viewOf) } }),
  }),
  route({
    name: 'sandboxes.create',
    method: 'POST',
    path: '/sandboxes',
    summary:
      'Make a sandbox, from fixtures or from a snapshot of the sandbox that the request chooses, and start a scenario on it; with persist it outlives the process',
    answers: 'The sandbox.',
    success: [201],
    worldless: true,
    bounds: WORLD_BODY,
    body: newSandbox,
    handle: async ({ host, sandbox, body }) => {
      refuseInvalid([
        ...clashes(body),
        ...foreignExtends(body.fixtures, '/fixtures'),
        ...unknown(sandbox, body),
      ])
      const origin = await chosen(host.sandboxes, sandbox, body)
      await host.sandboxes
        .create(body.name, origin, body.persist)
        .catch((error) => refuseFixtures(error, isObject(body.fixtures) ? '/fixtures' : ''))
      if (body.scenario !== undefined) await startOn(host, body.name, body.scenario)
      return { status: 201, body: viewOf(host.sandboxes.show(body.name)) }
    },
  }),
  route({
    name: 'sandboxes.show',
    method: 'GET',
    path: '/sandboxes/{name}',
    summary: 'Show one sandbox',
    answers: 'The sandbox.',
    worldless: true,
    handle: ({ host, params }) => ({ body: viewOf(host.sandboxes.show(params.name)) }),
  }),
  route({
    name: 'sandboxes.delete',
    method: 'DELETE',
    path: '/sandboxes/{name}',
    summary: 'Remove a sandbox and all that belongs to it, snapshots and files too',
    answers: 'Nothing.',
    success: [204],
    worldless: true,
    handle: async ({ host, params }) => {
      await host.sandboxes.delete(params.name)
      return { status: 204 }
    },
  }),
] as const

// Without its scenario it is not what was asked for.
async function startOn({ sandboxes, scenarios }: ControlHost, name: string, scenario: string): Promise<void> {
  try {
    await scenarios.start(await sandboxes.open(name), scenario)
  } catch (error) {
    await sandboxes.delete(name)
    throw error
  }
}

// The clock of a sandbox that nobody has used for a while stands where it was last used: its time has passed all the same.
function viewOf({ sandbox, persist }: SandboxEntry) {
  const { name, clock, store, seed, log, service } = sandbox
  const path = name === DEFAULT_SANDBOX ? '' : `/@${name}`
  return {
    name,
    persist,
    now: formatInstant(clock.due()),
    rate: clock.rate,
    seed,
    revision: store.revision,
    records: countRecords(store, service.collections.keys()),
    requests: log.size,
    base_url_path: `${path}/v1`,
    control_url_path: path + BASE,
  }
}

const BROUGHT_ALONG = ['fixtures', 'seed', 'clock', 'settings'] as const

function clashes(body: NewSandbox): Issue[] {
  if (body.from_snapshot === undefined) return []
  return BROUGHT_ALONG.filter((key) => body[key] !== undefined).map((key) => ({
    pointer: `/${key}`,
    detail: 'cannot be given together with from_snapshot: a snapshot brings its own',
  }))
}

function unknown({ ledger }: Sandbox, { settings = {} }: NewSandbox): Issue[] {
  return ledger.check(settings).map((issue) => ({ ...issue, pointer: `/settings${issue.pointer}` }))
}

async function chosen(sandboxes: Sandboxes, from: Sandbox, body: NewSandbox): Promise<Origin> {
  const { from_snapshot, settings } = body
  if (from_snapshot === undefined) {
    return { ...originOf(body), ...(settings === undefined ? {} : { settings: settings as JsonObject }) }
  }
  // The requests that the other sandbox has answered are none of the new one's.
  const { store, limits } = await sandboxes.snapshots(from).world(from_snapshot)
  return { world: { store, limits } }
}
