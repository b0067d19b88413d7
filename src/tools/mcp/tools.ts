import { z } from 'zod'
import type { CallControl } from '../../control-client/ask.ts'
import { advanceToTarget, type TargetOf } from '../../control-client/clock.ts'
import { conductQueryOf } from '../../control-client/conduct.ts'
import { apiPath } from '../../control-client/transport.ts'
import type { FaultDraft } from '../../core/faults/rule.ts'
import { connect } from '../../index.ts'
import { advanceLines, nextEvent, speedOf } from '../../terminal/clock-lines.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { conductLines } from '../../terminal/conduct-commands.ts'
import { type ControlAddress, emulatorOrigin, namedIn } from '../../terminal/control-client.ts'
import { explainLines } from '../../terminal/explain-command.ts'
import type { Line } from '../../terminal/line.ts'
import { linesOf, prettyLines } from '../../terminal/print.ts'
import { isFailure, rowOf } from '../../terminal/request-line.ts'
import { repetitionOf } from './failure.ts'

/** An emulator that the tools call. */
export interface FoundEmulator extends ControlAddress {
  /** Whether it runs in this process. */
  readonly isOwn: boolean
}

/** A tool of the server. Its input has the field `sandbox` in addition. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodRawShape
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** The commands that do the same: error messages that name one then name the tool. */
  readonly commands: readonly string[]
  readonly run: (ask: CallControl, input: never, emulator: FoundEmulator) => Promise<readonly Line[]>
}

type Declared<S extends z.ZodRawShape> = Omit<Tool, 'name' | 'input' | 'run'> & {
  readonly input: S
  readonly run: (
    ask: CallControl,
    input: z.output<z.ZodObject<S>>,
    emulator: FoundEmulator,
  ) => Promise<readonly Line[]>
}

function tool<S extends z.ZodRawShape>(name: string, declared: Declared<S>): Tool {
  return { ...declared, name }
}

/** An optional text that matches a pattern. */
export function matching(pattern: RegExp, description: string) {
  return z.string().regex(pattern, `must match ${pattern.source}`).optional().describe(description)
}

const text = (description: string) => z.string().describe(description)
const limit = z.int().min(1).max(1_000).default(20).describe('maximum number of entries')
const page = { offset: z.int().min(0).default(0).describe('entries before the first one'), limit }
const anything = z.record(z.string(), z.unknown())
const request_id = text('id of a request: list_requests has it, and the header X-Emulator-Request-Id')

const since = text('only requests after the one with this id, or from this virtual instant on').optional()
const COLUMNS = ['id', 'at', 'status', 'request', 'operation', 'error', 'faults']

/** Number of requests among which the last failed one is searched. */
const SEARCHED = '1000'

/** Every tool, at most fifteen: a client shows all of them to its model at all times. */
export const tools: readonly Tool[] = [
  tool('status', {
    description:
      'Show the emulator: base URL and keys for the client under test, clock, faults, scenario, sandboxes',
    input: {},
    effect: 'reads',
    commands: ['status', 'clock', 'scenario list', 'sandbox list'],
    run: statusLines,
  }),
  tool('list_requests', {
    description:
      'List the API requests that the emulator has received, oldest first, with status, error and faults',
    input: {
      status: matching(/^(\d{3}|\dxx|0)$/, 'only this status, such as 429, or this class, such as 4xx'),
      operation: text('only this operation, such as pages.create').optional(),
      path: text('only this path; * is any run of characters').optional(),
      since,
      limit,
    },
    effect: 'reads',
    commands: ['requests'],
    run: async (ask, { limit, ...query }) => {
      const { data } = await ask('GET /requests', { query: { ...query, limit: String(limit) } })
      return linesOf({ data: data.map(rowOf) }, COLUMNS)
    },
  }),
  tool('explain_request', {
    description:
      'Explain one response in full: deciding step, caller, limits, faults, changes, events, assumptions, bodies',
    input: { request_id },
    effect: 'reads',
    commands: ['explain REQUEST_ID'],
    run: async (ask, params) => explainLines(await ask('GET /explain/{request_id}', { params })),
  }),
  tool('why_did_this_fail', {
    description:
      'Explain why a request failed (by default the last failed one), with the smallest fault that repeats it and a Vitest test that repeats it. Both have been tried in an emulator of their own.',
    input: { request_id: request_id.optional() },
    effect: 'reads',
    commands: [],
    run: whyLines,
  }),
  tool('describe_api', {
    description:
      'List the operations of the emulated API, or describe one of them in OpenAPI, with its schemas',
    input: { operation: text('such as pages.create; without it, all are listed').optional() },
    effect: 'reads',
    commands: ['call GET /operations'],
    run: apiLines,
  }),
  tool('read_state', {
    description: 'Read the stored records: the collections, the records of one, or one record',
    input: { collection: text('such as pages').optional(), id: text('id of a record').optional(), ...page },
    effect: 'reads',
    commands: ['state', 'state list', 'state get'],
    run: async (ask, { collection, id, offset, limit }) => {
      if (collection === undefined) return linesOf(await ask('GET /collections'), ['name', 'records'])
      if (id !== undefined)
        return prettyLines(await ask('GET /state/{collection}/{id}', { params: { collection, id } }))
      const { data } = await ask('GET /state/{collection}', { params: { collection } })
      const shown = data.slice(offset, offset + limit)
      return [`${data.length} records; ${shown.length} from offset ${offset}:`, ...prettyLines(shown)]
    },
  }),
  tool('list_faults', {
    description: 'List the armed fault rules with their counters, and the presets that arm_fault takes',
    input: {},
    effect: 'reads',
    commands: ['faults list', 'faults presets'],
    run: async (ask) => [
      'Armed:',
      ...linesOf(await ask('GET /faults'), ['id', 'preset', 'match', 'matched', 'fired']),
      'Presets:',
      ...linesOf(await ask('GET /fault-presets'), ['name', 'lasts', 'description']),
    ],
  }),
  tool('check_conduct', {
    description:
      'Judge how the client behaved: waits, retries, keys, pages, polls, connections; each finding has a fix',
    input: {
      retries: z.int().min(0).max(100).optional().describe('how often the client repeats a failed call'),
      since,
    },
    effect: 'reads',
    commands: ['conduct'],
    run: async (ask, options) => conductLines(await ask('GET /conduct', conductQueryOf(options))),
  }),
  tool('arm_fault', {
    description:
      'Make requests fail: arm a preset (list_faults names them) or your own actions. The page docs/guide/faults.md describes rules.',
    input: {
      preset: text('such as rate-limited').optional(),
      match: anything
        .optional()
        .describe('the requests, such as {"operation": "pages.create"}; required without a preset'),
      when: anything.optional().describe('the matches that fire, such as {"first": 2}'),
      do: z.array(anything).optional().describe('actions without a preset: [{"respond": {"status": 503}}]'),
    },
    effect: 'changes',
    commands: ['faults add'],
    run: async (ask, draft) => prettyLines(await ask('POST /faults', { body: draft as FaultDraft })),
  }),
  tool('clear_faults', {
    description: 'Remove one fault rule, or all of them',
    input: { id: text('id of a rule; without it, all rules are removed').optional() },
    effect: 'destroys',
    commands: ['faults clear'],
    run: async (ask, { id }) => {
      if (id === undefined) return linesOf(await ask('DELETE /faults'))
      return [`Removed: ${(await ask('DELETE /faults/{id}', { params: { id } })).id}.`]
    },
  }),
  tool('advance_clock', {
    description:
      'Let virtual time pass, by one target, and show what happened; due webhooks are delivered before it returns',
    input: {
      by: text('a duration: 90s, 10m, 24h, 29d').optional(),
      to: text('an instant, ISO 8601 with a zone').optional(),
      until_batch: text('id of a batch: until it is terminal').optional(),
    },
    effect: 'changes',
    commands: ['clock advance'],
    run: async (ask, { until_batch: batch, ...rest }) => {
      const target = { ...rest, ...(batch !== undefined && { until: { batch } }) } as TargetOf<object>
      const result = await advanceToTarget((body) => ask('POST /clock/advance', { body }), target)
      return advanceLines(result, { all: false, only: undefined }, '')
    },
  }),
  tool('reset_sandbox', {
    description:
      'Give the sandbox its starting state again: records, clock, faults, limits and request log are lost',
    input: {},
    effect: 'destroys',
    commands: ['reset'],
    run: async (ask) => linesOf(await ask('POST /reset')),
  }),
  tool('snapshot', {
    description:
      'Save the whole state of the sandbox under a name, or restore it; restore replaces the present state',
    input: { action: z.enum(['save', 'restore']), name: text('lower-case letters, digits and hyphens') },
    effect: 'destroys',
    commands: ['snapshot save', 'snapshot restore'],
    run: async (ask, { action, name }) =>
      action === 'save'
        ? linesOf(await ask('POST /snapshots', { body: { name } }))
        : linesOf(await ask('POST /snapshots/{name}/restore', { params: { name } })),
  }),
  tool('write_record', {
    description:
      'Create a record, or replace all its fields; it is validated, and a refused record changes nothing',
    input: { collection: text('such as pages'), record: anything.describe('the whole record, with its id') },
    effect: 'destroys',
    commands: ['state put'],
    run: async (ask, { collection, record }) => {
      const params = { collection, id: String(record.id ?? '') }
      return prettyLines(await ask('PUT /state/{collection}/{id}', { params, body: record }))
    },
  }),
  tool('start_scenario', {
    description:
      'Start a scenario on the sandbox instead of the active one (status lists them), or stop the active one',
    input: { name: text('name of a scenario; without it, the active one is stopped').optional() },
    effect: 'changes',
    commands: ['scenario start', 'scenario stop'],
    run: async (ask, { name }) =>
      name === undefined
        ? linesOf(await ask('POST /scenarios/stop'))
        : linesOf(await ask('POST /scenarios/{name}/start', { params: { name } })),
  }),
]

async function statusLines(ask: CallControl, _: object, emulator: FoundEmulator): Promise<readonly Line[]> {
  const { version, contract_version } = await ask('GET /health')
  const clock = await ask('GET /clock')
  const { data: scenarios, active } = await ask('GET /scenarios')
  const { data: sandboxes } = await ask('GET /sandboxes')
  const { never_fired, data: rules } = await ask('GET /faults')
  const { sandbox = namedIn(emulator), controlToken } = emulator
  const origin = emulatorOrigin(emulator)
  const client = connect(`${origin}${apiPath(sandbox)}`, { controlToken })
  await client.ready()
  const { user, member, service } = client.defaultSandbox.keys
  return linesOf({
    version: `${version}, contract ${contract_version}`,
    base_url: client.baseUrl,
    dashboard: `${client.controlUrl}/ui/`,
    runs: emulator.isOwn ? 'inside this MCP server, and ends with it' : 'in another process',
    keys: `user ${user ?? 'unknown'}, member ${member ?? 'unknown'}, service ${service ?? 'unknown'}`,
    clock: `${clock.now}, ${speedOf(clock)}`,
    next: nextEvent(clock.next),
    faults: `${rules.length} armed, ${never_fired.length} never fired`,
    scenario: active?.name ?? 'none',
    scenarios: scenarios.map(({ name }) => name).join(', '),
    sandboxes: sandboxes.map(({ name }) => name).join(', '),
  })
}

async function whyLines(ask: CallControl, { request_id = '' }: { readonly request_id?: string | undefined }) {
  const id = request_id || (await lastFailed(ask))
  const trace = await ask('GET /explain/{request_id}', { params: { request_id: id } })
  const found = await repetitionOf(ask, trace)
  const repetition =
    found === undefined
      ? [
          'No fault repeats it in a new sandbox with the demo data: it depends on earlier requests. The tool snapshot saves this state.',
        ]
      : [
          ...(found.fault === undefined
            ? ['The request alone repeats it in a new sandbox with the demo data: no fault is needed.']
            : ['The smallest fault that repeats it, as arm_fault takes it:', JSON.stringify(found.fault)]),
          '',
          'A test that repeats it:',
          '```ts',
          ...found.test.split('\n'),
          '```',
        ]
  return [...explainLines(trace), '', ...repetition]
}

async function lastFailed(ask: CallControl): Promise<string> {
  const { data } = await ask('GET /requests', { query: { limit: SEARCHED } })
  const failed = data.findLast((entry) => isFailure(entry) || entry.end !== null || entry.faults.length > 0)
  if (failed !== undefined) return failed.id
  throw new CommandFailed(
    `None of the ${data.length} newest requests of this sandbox has failed. Send the request first, give a request_id, or name the sandbox of the client; status lists the sandboxes.`,
  )
}

async function apiLines(ask: CallControl, { operation }: { readonly operation?: string | undefined }) {
  if (operation === undefined)
    return linesOf(await ask('GET /operations'), ['name', 'method', 'path', 'summary'])
  const document = await ask('GET /openapi.json', { query: { api: 'workspace' } })
  const { paths, components } = document as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
    readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
  }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, ...described })),
  )
  const found = all.find(({ operationId }) => operationId === operation)
  if (found === undefined)
    throw new CommandFailed(
      `There is no operation "${operation}". describe_api without an operation lists them.`,
    )
  const schemas = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (schemas.has(name)) continue
      schemas.add(name)
      follow(components.schemas[name])
    }
  }
  follow(found)
  return prettyLines({
    ...found,
    schemas: Object.fromEntries([...schemas].map((name) => [name, components.schemas[name]])),
  })
}
