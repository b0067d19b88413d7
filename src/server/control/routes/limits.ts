import { z } from 'zod'
import { limitClock, limitOverride, limitOverrides, pathKey } from '../../../core/core-assumptions.ts'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { refuse, refuseInvalid } from '../../../core/errors.ts'
import {
  type InputOf,
  intBetween,
  list,
  listOf,
  nonEmptyText,
  queryText,
  type ShapeOf,
  timestamp,
} from '../../../core/fields.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { AnyOperation } from '../../../core/operation.ts'
import { refuseUnknown } from '../../../core/refuse-unknown.ts'
import { type ApiKey, apiKeys, teamspaceHeader } from '../../../core/request/auth.ts'
import { setSettings } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { missingName, missingNote } from '../missing-name.ts'
import { operationOf } from '../rate-windows.ts'
import { removedIds, route } from '../route.ts'

/** A limit: a number of requests in a number of seconds. */
export const limitDraft = () =>
  z.strictObject({
    /** 1 to 100,000. */
    limit: intBetween(1, 100_000),
    /** Seconds, 1 to 86,400. Default 60. */
    window_s: intBetween(1, 86_400).default(60),
  })

export type LimitDraft = InputOf<typeof limitDraft>

/** How far to use up a window. */
export const limitFill = () =>
  z.strictObject({
    /** Number of requests that the window still admits, 0 to 100,000. */
    remaining: intBetween(0, 100_000),
    /** Default: every teamspace. */
    teamspace_id: nonEmptyText().optional(),
  })

export type LimitFill = InputOf<typeof limitFill>

/** A window in which requests are counted. */
const limitWindow = () =>
  z.strictObject({
    /** Teamspace and operation. */
    key: z.string(),
    operation: z.string().nullable(),
    limit: z.number(),
    /** Seconds. */
    window_s: z.number(),
    used: z.int(),
    remaining: z.number(),
    /** Virtual instant of the oldest request in it. */
    oldest_at: timestamp(),
    /** Instant at which a place becomes free. */
    reset_at: timestamp(),
  })

export type LimitWindow = ShapeOf<typeof limitWindow>

/** The windows that hold requests, and the limits that differ from the default. */
const limitList = () =>
  listOf(limitWindow()).extend({
    overrides: z.array(limitOverride.extend(missingNote())),
    /** Whether a full window refuses requests. */
    enforced: z.boolean(),
    /** The clock of the windows. */
    clock: z.enum(['virtual', 'wall']),
  })

export type LimitRules = Pick<ShapeOf<typeof limitList>, 'overrides' | 'enforced' | 'clock'>

/** Rate limits and the windows that they are counted in. */
export const limitRoutes = [
  route('GET /limits', {
    name: 'limits.list',
    summary: 'List the rate windows that hold requests, and the limits that differ from the default',
    returns: 'Every window: key, operation, limit, use, oldest request, and when a place becomes free.',
    output: limitList,
    handle: ({ sandbox }) => ({
      body: {
        ...list(sandbox.limits.windows.save().flatMap(({ id }) => windowOf(sandbox, id))),
        overrides: sandbox.settings.get(limitOverrides).map((each) => ({
          ...each,
          ...missingName(sandbox, each.operation),
        })),
        enforced: sandbox.limits.areEnforced,
        clock: sandbox.settings.get(limitClock),
      },
    }),
  }),
  route('DELETE /limits', {
    name: 'limits.clear',
    summary:
      'Empty the rate windows, or with operation only those of one operation; limits that were set stay',
    returns: 'The keys of the windows that held requests.',
    input: () => ({ query: z.strictObject({ operation: queryText().optional() }).prefault({}) }),
    output: removedIds,
    handle: ({ sandbox, query: { operation } }) => {
      const name = operation === undefined ? undefined : operationNamed(sandbox, operation).name
      const all = [...sandbox.service.operations.values()]
      const isSelected = (id: string) => name === undefined || operationOf(id, all)?.name === name
      const windows = sandbox.limits.windows.save()
      sandbox.limits.windows.load(windows.filter(({ id }) => !isSelected(id)))
      return { body: { removed: windows.flatMap(({ id }) => (isSelected(id) ? [id] : [])) } }
    },
  }),
  route('PUT /limits/{operation}', {
    name: 'limits.set',
    summary: 'Give an operation its own limit (setting limits.overrides)',
    returns: 'The limits that differ from the default.',
    input: () => ({ body: limitDraft() }),
    output: () => listOf(limitOverride),
    handle: ({ sandbox, params, body }) => {
      const { name } = operationNamed(sandbox, params.operation)
      const others = sandbox.settings.get(limitOverrides).filter(({ operation }) => operation !== name)
      const overrides = [...others, { operation: name, ...body }]
      setSettings(sandbox, {
        ...(sandbox.settings.overrides as JsonObject),
        [limitOverrides.key]: overrides,
      })
      return { body: list(overrides) }
    },
  }),
  route('POST /limits/{operation}/fill', {
    name: 'limits.fill',
    summary: 'Use up a rate window until a given number of requests remains, in one teamspace or in all',
    returns: 'The windows that were filled.',
    input: () => ({ body: limitFill() }),
    output: () => listOf(limitWindow()),
    handle: ({ sandbox, params, body: { remaining, teamspace_id } }) => {
      const operation = operationNamed(sandbox, params.operation)
      refuseConcretePaths(sandbox)
      const limit = sandbox.limits.of(operation.name)
      const detail = `must be at most ${limit.limit}, the limit of the operation`
      const tooMany = remaining > limit.limit ? [{ pointer: '/remaining', detail }] : []
      refuseInvalid([...tooMany, ...unknownTeamspace(sandbox, teamspace_id)])
      const spaces = teamspace_id === undefined ? teamspacesOf(sandbox) : [teamspace_id]
      const keys = spaces.map((space) => `${space} ${operation.name}`)
      for (const key of keys) sandbox.limits.windows.fill(key, limit, sandbox.limits.now, remaining)
      return { body: list(keys.flatMap((key) => windowOf(sandbox, key))) }
    },
  }),
] as const

function operationNamed(sandbox: Sandbox, name: string): Pick<AnyOperation, 'name'> {
  const { operations, mayName } = sandbox.service
  if (mayName?.(name)) return { name }
  const fix = '"workspace-emulator call GET /operations" lists every operation.'
  return operations.get(name) ?? refuseUnknown('operation', name, operations.keys(), fix)
}

// `peek` removes old requests from a window, so the hits are read after it.
function windowOf(sandbox: Sandbox, key: string): LimitWindow[] {
  const operation = operationOf(key, sandbox.service.operations.values())
  const limit = sandbox.limits.of(operation?.name ?? '')
  const { remaining, reset } = sandbox.limits.windows.peek(key, limit, sandbox.limits.now)
  const hits = sandbox.limits.windows.save().find(({ id }) => id === key)?.hits ?? []
  const [oldest] = hits
  if (oldest === undefined) return []
  return [
    {
      key,
      operation: operation?.name ?? null,
      limit: limit.limit,
      window_s: limit.window / 1000,
      used: hits.length,
      remaining,
      oldest_at: formatInstant(oldest),
      reset_at: formatInstant(reset * 1000),
    },
  ]
}

function refuseConcretePaths(sandbox: Sandbox): void {
  if (sandbox.settings.get(pathKey) === 'template') return
  refuse('conflict', {
    detail: `Every concrete path has its own window (setting ${pathKey.key}), so an operation has no window to fill.`,
    mitigation: `"workspace-emulator limits set OPERATION LIMIT" lowers the limit instead; "workspace-emulator settings set ${pathKey.key} template" joins the windows.`,
  })
}

function unknownTeamspace(sandbox: Sandbox, id: string | undefined) {
  const known = teamspacesOf(sandbox)
  // A header of a request may choose a teamspace without a key.
  if (id === undefined || known.includes(id) || sandbox.settings.get(teamspaceHeader) !== null) return []
  return [
    { pointer: '/teamspace_id', detail: `no key belongs to the teamspace "${id}".${didYouMean(id, known)}` },
  ]
}

// Windows count only requests with a key, so only the teamspaces of keys have windows.
function teamspacesOf(sandbox: Sandbox): string[] {
  const keys = [...sandbox.store.rows(apiKeys.name).values()] as ApiKey[]
  return [...new Set(keys.map(({ teamspace_id }) => teamspace_id))]
}
