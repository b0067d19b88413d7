import type { FaultView, RequestEntry, SandboxClient } from '../../index.ts'

/** A refusal with the time that its client has to wait. */
export interface Wait {
  readonly refused: RequestEntry
  /** The value of Retry-After. */
  readonly told: string
  /** The earliest instant of a retry, in virtual milliseconds since the Unix epoch. */
  readonly until: number
}

/**
 * The waits of every 429 and 503 among the requests, in their order. Responses are left out if Retry-After is missing, if it is
 * neither whole seconds nor an HTTP date, or if a fault let nothing of the response out.
 */
export async function waitsAmong(sandbox: SandboxClient, requests: readonly RequestEntry[]): Promise<Wait[]> {
  const refusals = requests.filter(({ status }) => status === 429 || status === 503)
  if (refusals.length === 0) return []
  const rules = new Map((await sandbox.faults.list()).map((rule) => [rule.id, rule]))
  const waits = await Promise.all(refusals.map((refused) => waitOf(sandbox, refused, rules)))
  return waits.filter((wait) => wait !== undefined)
}

async function waitOf(
  sandbox: SandboxClient,
  refused: RequestEntry,
  rules: ReadonlyMap<string, FaultView>,
): Promise<Wait | undefined> {
  const told = refused.faults.length === 0 ? byLimiter(refused) : await byFaults(sandbox, refused, rules)
  const until = told === undefined ? undefined : instantOf(told, Date.parse(refused.at))
  return told === undefined || until === undefined ? undefined : { refused, told, until }
}

function byLimiter({ admission: { retry_after } }: RequestEntry): string | undefined {
  return retry_after === null ? undefined : String(retry_after)
}

// The two forms of RFC 9110. An instant in the past means no wait, as 0 does.
function instantOf(told: string, at: number): number | undefined {
  if (/^\d+$/.test(told)) return at + Number(told) * 1000
  const date = / GMT$/.test(told) ? Date.parse(told) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(at, date)
}

type Actions = FaultView['do']

/** The header of a response that faults have changed: the log has only its number, not its form. */
async function byFaults(
  sandbox: SandboxClient,
  refused: RequestEntry,
  rules: ReadonlyMap<string, FaultView>,
): Promise<string | undefined> {
  const { faults } = await sandbox.requests.explain(refused.id)
  const fired = faults.filter((each) => each.fired)
  if (fired.some(({ sent }) => sent !== null && sent.bytes === 0)) return undefined
  const actions = fired.flatMap(({ rule, counter }) =>
    actionsOf(rules.get(rule) ?? refuseGone(rule, refused), counter?.n ?? 1),
  )
  return headerOf(actions, refused)
}

function actionsOf({ when: { sequence }, do: always, actions }: FaultView, n: number): Actions {
  if (sequence === undefined) return always
  const step = sequence[Math.min(n, sequence.length) - 1] ?? 'pass'
  return Object.hasOwn(actions, step) ? (actions[step] ?? []) : []
}

function headerOf(actions: Actions, refused: RequestEntry): string | undefined {
  const respond = actions.flatMap((action) => ('respond' in action ? [action.respond] : []))[0]
  const given = Object.entries(respond?.headers ?? {}).find(([name]) => name.toLowerCase() === 'retry-after')
  if (given !== undefined) return given[1]
  // A response of a proxy has no Retry-After from the limits of the service.
  if (respond?.proxy === true) return undefined
  const quotas = actions.flatMap((action) => ('quota' in action ? [action.quota] : []))
  const { retry_after: form = 'seconds' } = Object.assign({}, ...quotas) as (typeof quotas)[number]
  const seconds = refused.admission.retry_after
  if (seconds === null || form === 'missing') return undefined
  if (typeof form === 'object') return form.text
  return form === 'seconds' ? String(seconds) : dateIn(seconds, refused)
}

// Rounded up to the second, as the emulator does it.
function dateIn(seconds: number, { at }: RequestEntry): string {
  return new Date(Math.ceil(Date.parse(at) / 1000 + seconds) * 1000).toUTCString()
}

function refuseGone(rule: string, { id }: RequestEntry): never {
  throw new Error(
    `The fault rule ${rule} fired on ${id} and was removed since, so the length of the wait is unknown. Check toHaveRespectedRetryAfter before the rule is removed.`,
  )
}
