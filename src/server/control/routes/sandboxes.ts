import { z } from 'zod'
import { refuseInvalid } from '../../../core/errors.ts'
import { anyObject, type InputOf, list, listOf, type ShapeOf, timestamp } from '../../../core/fields.ts'
import { type Issue, isObject, type JsonObject } from '../../../core/json.ts'
import type { LogEntry } from '../../../core/log/request-log.ts'
import { DEFAULT_SANDBOX, mountIn } from '../../../core/sandboxes/name.ts'
import { nameField } from '../../../core/sandboxes/name-field.ts'
import type { Origin } from '../../../core/sandboxes/origin.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { SandboxEntry, Sandboxes, SavedSandbox } from '../../../core/sandboxes/sandboxes.ts'
import { countRecords } from '../../../core/state/state.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { lagOf } from '../../../core/time/run-events.ts'
import type { ControlHost } from '../host.ts'
import { BASE, noBody, route, SANDBOX_BODY } from '../route.ts'
import { foreignExtends, originOf, refuseFixtures, startingPoint } from '../starting-point.ts'
import { passing } from './clock.ts'

const newSandbox = () =>
  z.strictObject({
    name: nameField(),
    ...startingPoint().shape,
    ...passing(),
    /** Settings by their dotted keys: choices where the specification leaves something open. */
    settings: anyObject().optional(),
    /** Whether it outlives the process. Default false; an emulator without a data folder refuses true. */
    persist: z.boolean().default(false),
    /** Name of a snapshot of the sandbox that the request chooses, instead of fixtures, seed, clock and settings. */
    from_snapshot: z.string().optional(),
    /** Name of a scenario that is started at once. */
    scenario: z.string().optional(),
  })

type NewSandbox = z.output<ReturnType<typeof newSandbox>>

/** The body that creates a sandbox. */
export type SandboxDraft = InputOf<typeof newSandbox>

/** One sandbox of the emulator. */
const sandboxView = () =>
  z.strictObject({
    name: z.string(),
    state: z.literal('open'),
    /** Whether it outlives the process. */
    persist: z.boolean(),
    /** Virtual instant. */
    now: timestamp(),
    /** Virtual seconds per real second. */
    rate: z.number(),
    seed: z.int(),
    revision: z.int(),
    /** Number of records in all collections. */
    records: z.int(),
    /** Number of requests in the log. */
    requests: z.int(),
    /** Number of them with a status from 400 on, or without a complete response. */
    failed_requests: z.int(),
    /** The newest of them; null for an empty log. */
    last_request: z.strictObject({ id: z.string(), at: timestamp() }).nullable(),
    base_url_path: z.string(),
    control_url_path: z.string(),
  })

export type SandboxView = ShapeOf<typeof sandboxView>

/** A sandbox that is on the disk and has not been used since the emulator was started. The first request opens it. */
const savedSandboxView = () =>
  z.strictObject({
    name: z.string(),
    /** `broken`: its file cannot be used, and requests for it are refused. */
    state: z.enum(['on_disk', 'broken']),
    persist: z.boolean(),
    /** The problem of its file; null when none is known. */
    problem: z.string().nullable(),
    base_url_path: z.string(),
    control_url_path: z.string(),
  })

export type SavedSandboxView = ShapeOf<typeof savedSandboxView>

/** All sandboxes of the process. A sandbox is also created on first use; these routes can choose its starting state. */
export const sandboxRoutes = [
  route('GET /sandboxes', {
    name: 'sandboxes.list',
    summary: 'List every sandbox',
    returns:
      'Each with its clock, its size and its paths; a sandbox that is only on disk has its paths, and the problem that prevents its opening, if one is known.',
    withoutSandbox: true,
    output: () => listOf(z.union([sandboxView(), savedSandboxView()])),
    handle: ({ host: { sandboxes }, controlUrl }) => {
      const open = sandboxes.list().map((entry) => viewOf(entry, controlUrl))
      return { body: list([...open, ...sandboxes.saved().map((saved) => savedView(saved, controlUrl))]) }
    },
  }),
  route('POST /sandboxes', {
    name: 'sandboxes.create',
    summary:
      'Create a sandbox from fixtures, or from a snapshot of the sandbox that the request chooses, and start a scenario on it; with persist it outlives the process',
    returns: 'The sandbox.',
    success: [201],
    withoutSandbox: true,
    opens: true,
    bounds: SANDBOX_BODY,
    input: () => ({ body: newSandbox() }),
    output: sandboxView,
    handle: async ({ host, sandbox, body, controlUrl }) => {
      const settings = sandbox.service.assumptions.check(body.settings ?? {})
      refuseInvalid([
        ...clashes(body),
        ...foreignExtends(body.fixtures, '/fixtures'),
        ...settings.map((issue) => ({ ...issue, pointer: `/settings${issue.pointer}` })),
      ])
      const origin = await chosen(host.sandboxes, sandbox, body)
      await host.sandboxes
        .create(body.name, origin, body.persist)
        .catch((error) => refuseFixtures(error, isObject(body.fixtures) ? '/fixtures' : ''))
      if (body.scenario !== undefined) await startOn(host, body.name, body.scenario)
      return { status: 201, body: viewOf(host.sandboxes.show(body.name), controlUrl) }
    },
  }),
  route('GET /sandboxes/{name}', {
    name: 'sandboxes.show',
    summary: 'Show one sandbox',
    returns: 'The sandbox.',
    withoutSandbox: true,
    output: sandboxView,
    handle: async ({ host, params, controlUrl }) => ({
      body: viewOf(await host.sandboxes.find(params.name), controlUrl),
    }),
  }),
  route('DELETE /sandboxes/{name}', {
    name: 'sandboxes.delete',
    summary: 'Remove a sandbox with its snapshots and files',
    returns: 'Nothing.',
    success: [204],
    withoutSandbox: true,
    output: noBody,
    handle: async ({ host, params }) => {
      await host.sandboxes.delete(params.name)
      return { status: 204 }
    },
  }),
] as const

// A sandbox whose scenario cannot be started is removed again, so that the call changes nothing.
async function startOn({ sandboxes, scenarios }: ControlHost, name: string, scenario: string): Promise<void> {
  try {
    await scenarios.start(await sandboxes.open(name), scenario)
  } catch (error) {
    await sandboxes.delete(name)
    throw error
  }
}

// The clock of an idle sandbox is updated at its next use, so the present instant is computed here.
function viewOf({ sandbox, persist }: SandboxEntry, controlUrl: string): SandboxView {
  const { name, clock, store, seed, log, service } = sandbox
  const entries = log.entries()
  const last = entries.at(-1)
  return {
    name,
    state: 'open',
    persist,
    now: formatInstant(lagOf(sandbox) > 0 ? clock.now : clock.due()),
    rate: clock.rate,
    seed,
    revision: store.revision,
    records: countRecords(store, service.collections),
    requests: entries.length,
    failed_requests: entries.filter(hasFailed).length,
    last_request: last === undefined ? null : { id: last.id, at: last.at },
    ...pathsOf(name, controlUrl),
  }
}

function hasFailed({ status, faults }: LogEntry): boolean {
  return status === 0 || status >= 400 || (faults?.end ?? null) !== null
}

// The files are not read: a thousand of them would make other requests wait.
function savedView({ name, problem }: SavedSandbox, controlUrl: string): SavedSandboxView {
  return {
    name,
    state: problem === null ? 'on_disk' : 'broken',
    persist: true,
    problem,
    ...pathsOf(name, controlUrl),
  }
}

function pathsOf(name: string, controlUrl: string) {
  const mount = mountIn(new URL(controlUrl).pathname.slice(0, -BASE.length))
  const path = name === DEFAULT_SANDBOX ? mount : `${mount}/@${name}`
  return { base_url_path: `${path}/v1`, control_url_path: path + BASE }
}

const BROUGHT_ALONG = ['fixtures', 'seed', 'clock', 'settings'] as const

function clashes(body: NewSandbox): Issue[] {
  if (body.from_snapshot === undefined) return []
  return BROUGHT_ALONG.filter((key) => body[key] !== undefined).map((key) => ({
    pointer: `/${key}`,
    detail: 'cannot be given together with from_snapshot: a snapshot has its own',
  }))
}

async function chosen(sandboxes: Sandboxes, from: Sandbox, body: NewSandbox): Promise<Origin> {
  const { from_snapshot, settings, rate, skip_on_poll } = body
  const pace = { ...(rate !== undefined && { rate }), ...(skip_on_poll !== undefined && { skip_on_poll }) }
  if (from_snapshot === undefined) {
    return {
      ...originOf(body),
      ...pace,
      ...(settings === undefined ? {} : { settings: settings as JsonObject }),
    }
  }
  // The request log of the other sandbox is not copied.
  const { store, limits } = await sandboxes.snapshots(from).sandbox(from_snapshot)
  return { ...pace, state: { store, limits } }
}
