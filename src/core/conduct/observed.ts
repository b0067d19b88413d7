import { errorKinds } from '../error-kinds.ts'
import { isObject, type JsonObject, parsedJson } from '../json.ts'
import type { LogEntry } from '../log/request-log.ts'
import { type AnyOperation, idOf } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'

/** The caller of a request that was refused because it had no key. */
export const NO_KEY = 'none'

/** How a request ended for its client. `transient`: refused, and the same request can succeed later. */
type Outcome = 'success' | 'unanswered' | 'transient' | 'refused'

function outcomeOf({ status, faults, evidence, error }: LogEntry): Outcome {
  const isCut = (evidence?.end ?? 'whole') !== 'whole'
  if (status === 0 || isCut || (faults !== undefined && faults.end !== null)) return 'unanswered'
  if (status < 400) return 'success'
  // Some conflicts end by themselves.
  const isPassing = errorKinds.get(error?.code ?? '')?.retryable === true
  const canPass = [408, 425, 429].includes(status) || (status === 409 && isPassing)
  return canPass || (status >= 500 && status !== 501) ? 'transient' : 'refused'
}

/** One request of a client, with the facts that verdicts need. */
export type ObservedRequest = ReturnType<typeof observe>

/** @param operation undefined when no route matched. @param index position in the log */
export function observe(entry: LogEntry, operation: AnyOperation | undefined, index: number) {
  const { evidence, response, headers, method, path, pathPrefix } = entry
  const outcome = outcomeOf(entry)
  // A request that was cut before it was read has no known caller.
  const caller = entry.caller?.key_id ?? (entry.status === 401 ? (entry.credential ?? NO_KEY) : '')
  const client = [headers['user-agent'], headers.referer, headers.origin].join(' ')
  const created = (entry.commit?.changes ?? [])
    .filter(({ table, before, after }) => before === undefined && after !== undefined && table[0] !== '$')
    .map(({ table, id }) => `${table}/${id}`)
  const [isSilent, isPart] = [!entry.status || evidence?.sent_bytes === 0, outcome === 'unanswered']
  let json: unknown
  return {
    entry,
    operation,
    index,
    outcome,
    caller,
    /** What it says of its program. */
    client,
    /** Equal for the same request of any caller. */
    signature: JSON.stringify([client, method, path, entry.query, contentOf(entry)]),
    /** The records that it has created, each as `collection/id`. */
    created,
    id: entry.id,
    /** Without the part of the path that selects the sandbox, which readers know. */
    name: `${method} ${path.slice(pathPrefix.length)}`,
    /** Its client, method and path. */
    reader: JSON.stringify([caller, headers['user-agent'], method, path]),
    key: headers['idempotency-key'],
    takesKeys: operation?.idempotent === true,
    content: contentOf(entry),
    /** Virtual milliseconds. */
    at: Date.parse(entry.at),
    /** Real milliseconds of its arrival and of its end; undefined when they are not known. */
    arrived: evidence?.arrived_ms,
    ended: evidence?.ended_ms ?? undefined,
    /** How its response ended, for messages. */
    ending: isSilent ? 'no response' : `${entry.status}${isPart ? ' (cut off)' : ''}`,
    /** Whether a repetition can succeed. */
    hasFailed: outcome === 'transient' || outcome === 'unanswered',
    /** Whether it may have taken effect although its client has no response of the service. */
    isAmbiguous: outcome === 'unanswered' || (entry.status >= 500 && created.length > 0),
    isFaulted: (entry.faults?.fired.length ?? 0) > 0,
    /** The header of the response as it was sent, after all faults. */
    get retryAfter(): string | undefined {
      return response?.show().headers.find(({ name }) => name.toLowerCase() === 'retry-after')?.value
    },
    /** Milliseconds that it asks the client to wait; 0 without a valid header. */
    get wait(): number {
      return readRetryAfter(this.retryAfter ?? '', this.at).due ?? 0
    },
    /** The body of a success as it was sent; undefined when it is not kept whole, or no JSON object. */
    get json(): JsonObject | undefined {
      if (outcome === 'success') json ??= parsedJson(response?.show().body ?? '')
      return isObject(json) ? json : undefined
    },
  }
}

/** The milliseconds in a Retry-After, by the two forms of RFC 9110, and in a fraction; undefined for others. A date in the past is 0. */
export function readRetryAfter(text: string, at: number) {
  if (/^\d+(\.\d+)?$/.test(text))
    return { isDate: false, isVague: text.includes('.'), due: Number(text) * 1_000 }
  const date = / GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? { isDate: false } : { isDate: true, due: Math.max(0, date - at) }
}

/** Digest of the body of a request, or its value; empty without a body. */
function contentOf({ evidence, body }: LogEntry): string {
  if (evidence?.body) return evidence.body.sha256
  if (body.kind === 'json') return JSON.stringify(body.value)
  return body.kind === 'large' ? `large ${body.bytes}` : ''
}

/** Two requests in a row, and the milliseconds from the end of the first to the arrival of the second. */
export type Gap = ReturnType<typeof gapsOf>[number]

export function gapsOf(requests: readonly ObservedRequest[], { clock: { rate } }: Sandbox) {
  return requests.slice(1).map((to, index) => {
    const from = requests[index] as ObservedRequest
    const start = from.ended ?? from.arrived
    const between = (to.arrived ?? Number.NaN) - (start ?? Number.NaN)
    const real = Number.isNaN(between) ? undefined : Math.max(0, Math.round(between))
    // A wait at a gate is the test's, not the client's.
    const virtual = (to.entry.faults?.gated?.from ?? to.at) - (from.entry.faults?.gated?.until ?? from.at)
    // The virtual clock counts if it has moved, unless it is slower than a client that sleeps in real time.
    const isVirtual = virtual > 0 && (real === undefined || rate === 0 || rate >= 1)
    const counted = isVirtual
      ? { ms: virtual, clock: 'virtual', instant: to.at }
      : { ms: real ?? 0, clock: 'real', instant: to.arrived ?? to.at }
    return { from, to, real, virtual, ...counted }
  })
}

/** The records that requests have created and that still exist, each as `collection/id`. */
export function existing({ store }: Sandbox, requests: readonly ObservedRequest[]): string[] {
  return [...new Set(requests.flatMap(({ created }) => created))].filter(
    (ref) => store.get(ref.slice(0, ref.indexOf('/')), idOf(ref)) !== undefined,
  )
}

/** A duration in messages: `61 s`, `250 ms`. */
export function spanText(ms: number): string {
  return ms >= 1_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`
}

/** A part of a list: never empty. */
export type Group<T> = [T, ...T[]]

/** Groups a list, in order of first appearance. */
export function groupBy<T, K>(list: Iterable<T>, keyOf: (each: T) => K): Map<K, Group<T>> {
  const groups = new Map<K, Group<T>>()
  for (const each of list) {
    const key = keyOf(each)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  return groups
}

/** Cuts a list before each element that does not continue the run before it. */
export function runsOf<T>(list: Iterable<T>, continues: (each: T, run: Group<T>) => boolean): Group<T>[] {
  const runs: Group<T>[] = []
  for (const each of list) {
    const run = runs.at(-1)
    if (run !== undefined && continues(each, run)) run.push(each)
    else runs.push([each])
  }
  return runs
}
