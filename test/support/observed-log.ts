import { Settings } from '../../src/core/assumptions.ts'
import { conductOf, type JudgeOptions } from '../../src/core/conduct/report.ts'
import type { Json } from '../../src/core/json.ts'
import type { ClientConnection } from '../../src/core/log/evidence.ts'
import { KeptResponse } from '../../src/core/log/kept-response.ts'
import type { LogEntry } from '../../src/core/log/request-log.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import type { Row } from '../../src/core/state/commit.ts'
import { workspaceService } from '../../src/emulator/service.ts'

/** One request of a log that a test writes by hand. */
export interface Step {
  /** Default: `pages.create`. */
  readonly operation?: string
  readonly path?: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly key?: string
  readonly caller?: string
  /** The body of the request; undefined for none. */
  readonly body?: Json
  /** A body that is no JSON, as it arrived. */
  readonly text?: string
  readonly status?: number
  /** Digest of its Authorization header: the key is not known. Null for a request without one. */
  readonly credential?: string | null
  /** Code of the refusal, and its pointers. */
  readonly code?: string
  readonly pointers?: readonly string[]
  readonly retryAfter?: string
  /** The body of the response. */
  readonly response?: Json
  /** Virtual milliseconds since the start. */
  readonly at?: number
  /** Real milliseconds since the start; null: not known. */
  readonly real?: number | null
  /** Real milliseconds until the end; null: not ended. */
  readonly took?: number | null
  readonly connection?: ClientConnection
  readonly requestsBefore?: number
  readonly end?: 'whole' | 'cut' | 'held' | 'left'
  /** The fault rule that fired. */
  readonly fault?: string
  /** Records that it has created, as `collection/id`. */
  readonly created?: readonly string[]
  readonly settings?: Settings
  readonly idempotency?: LogEntry['idempotency']
  readonly tomorrow?: LogEntry['tomorrow']
}

/** The instant at which every log of a test starts. */
export const START = Date.UTC(2030, 0, 1)

let connections = 0

/** @param over real milliseconds since the start, and who closed it */
export function aConnection(
  over: { opened?: number; closed?: number | undefined; closedBy?: 'client' | 'emulator' } = {},
): ClientConnection {
  connections += 1
  const { opened = 0, closed = null, closedBy = null } = over
  return { id: `c${connections}`, opened_ms: opened, requests: 1, closed_ms: closed, closed_by: closedBy }
}

const settings = new Settings()
const usual = aConnection()

/** The entry of a request, number `n` of the log. */
export function anEntry(step: Step, n: number): LogEntry {
  const { operation: name = 'pages.create', status = 200, at = n * 10, real = at, took = 1 } = step
  const operation = workspaceService.operations.get(name)
  if (operation === undefined) throw new Error(`There is no operation ${name}.`)
  const {
    connection = usual,
    end = status === 0 ? 'cut' : took === null ? null : 'whole',
    body,
    text,
    fault,
  } = step
  const headers: [string, string][] = step.retryAfter === undefined ? [] : [['Retry-After', step.retryAfter]]
  const response = status === 0 ? undefined : new KeptResponse(status, headers)
  if (step.response !== undefined) response?.write(JSON.stringify(step.response))
  const changes = (step.created ?? []).map((ref) => {
    const [table = '', id = ''] = ref.split('/')
    return { table, id, before: undefined, after: { id } as Row }
  })
  return {
    id: `log-${String(n + 1).padStart(6, '0')}`,
    at: new Date(START + at).toISOString(),
    method: operation.method,
    path: step.path ?? `/v1${operation.path}`,
    pathPrefix: '',
    operation: name,
    params: step.params ?? {},
    query: step.query ?? {},
    headers: { ...step.headers, ...(step.key !== undefined && { 'idempotency-key': step.key }) },
    body:
      text !== undefined
        ? { kind: 'refused' }
        : body === undefined
          ? { kind: 'none' }
          : { kind: 'json', value: body, bytes: undefined },
    status,
    response,
    caller: step.credential === undefined ? ({ key_id: step.caller ?? 'key' } as never) : undefined,
    credential: step.credential ?? undefined,
    idempotency: step.idempotency ?? 'none',
    tomorrow: step.tomorrow,
    error:
      step.code === undefined
        ? undefined
        : ({
            code: step.code,
            issues: (step.pointers ?? []).map((pointer) => ({ pointer, detail: 'is wrong' })),
          } as never),
    settings: step.settings ?? settings,
    commit: changes.length === 0 ? undefined : { revision: n, at: '', changes },
    faults:
      fault === undefined
        ? undefined
        : ({ fired: [{ rule: { id: fault, source: 'control', preset: fault }, n: 1 }], end: null } as never),
    evidence:
      real === null
        ? undefined
        : {
            arrived_ms: real,
            connection,
            requests_before: step.requestsBefore ?? n,
            idle_before_ms: null,
            body: text === undefined ? null : { bytes: text.length, sha256: `of ${text}` },
            end,
            sent_bytes: null,
            ended_ms: took === null ? null : real + took,
          },
    // Verdicts read no other fields.
  } as unknown as LogEntry
}

/** The parts of a sandbox that verdicts read, besides its log. */
export interface Around {
  readonly rate?: number
  readonly dropped?: number
  /** Virtual milliseconds since the start. */
  readonly now?: number
  /** Created records that were deleted since, as `collection/id`. */
  readonly deleted?: readonly string[]
  readonly deliveries?: readonly object[]
  /** Ids of armed fault rules, and how often they have fired. */
  readonly rules?: Readonly<Record<string, number>>
}

/** The report on a log of these requests. */
function reportOn(steps: readonly Step[], options: JudgeOptions = {}, around: Around = {}) {
  const { rate = 1, dropped = 0, now = 0, deleted = [], deliveries = [], rules = {} } = around
  const created = new Set(steps.flatMap((step) => step.created ?? []).filter((ref) => !deleted.includes(ref)))
  const stub = {
    service: workspaceService,
    log: { dropped },
    clock: { rate, now: START + now },
    store: {
      get: (table: string, id: string) =>
        table === '$fault_counters' ? { fired: rules[id] } : created.has(`${table}/${id}`) || undefined,
      rows: () => new Map(deliveries.entries()),
    },
    faults: { rules: Object.keys(rules).map((id) => ({ id, source: 'control', preset: id })) },
  } as unknown as Sandbox
  return conductOf(stub, steps.map(anEntry), options)
}

/** The reports of these verdicts alone, so that another verdict changes no test of them: the findings are also listed as `severity code`. */
export function judging(...codes: readonly string[]) {
  const narrowed = (...given: Parameters<typeof reportOn>) => {
    const report = reportOn(...given)
    return { ...report, data: report.data.filter(({ code }) => codes.includes(code)) }
  }
  const codesOn = (...given: Parameters<typeof reportOn>): string[] =>
    narrowed(...given).data.map(({ severity, code }) => `${severity} ${code}`)
  return { reportOn: narrowed, codesOn }
}
