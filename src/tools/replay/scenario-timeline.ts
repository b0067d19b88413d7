import { mismatch } from '../../core/faults/match.ts'
import type { FaultRule, When } from '../../core/faults/rule.ts'
import { standingOf } from '../../core/faults/standing.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { RecordedInput } from '../../core/record/bundle.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { formatDuration } from '../../core/time/instant.ts'
import { titleOf } from './difference.ts'

type RecordedCall = Extract<RecordedInput, { control: unknown }>

/** A rule as scenarios take it: a field without a value is left out. */
function draftOf({
  id,
  description,
  match,
  when,
  do: plain,
  actions,
  priority,
  then,
  times,
  ttl,
}: FaultRule) {
  const named = Object.keys(actions).length === 0 ? undefined : actions
  const own = { id, match, when, do: plain.length === 0 ? undefined : plain, actions: named, priority, then }
  return { ...own, description: description ?? undefined, times: times ?? undefined, ttl: ttl ?? undefined }
}

/** The rules of a sandbox that can still fire, counting from now. */
export function remainingRules(sandbox: Sandbox): FaultRule[] {
  const time = { now: sandbox.clock.now, wall: sandbox.options.host() }
  return sandbox.faults.rules.flatMap((rule) => {
    const { status, matched, fired } = standingOf(sandbox.store, rule, time)
    if (status !== 'armed') return []
    const times = rule.times === null ? null : rule.times - fired
    return [{ ...rule, times, when: moved(rule.when, -matched) ?? rule.when }]
  })
}

/** A `when` whose matches have other numbers; undefined where that is not possible. */
function moved(when: When, by: number): When | undefined {
  const { nth, first, after = 0, every, sequence, probability, until } = when
  if (by === 0) return when
  if (when.by !== undefined || every !== undefined || probability !== undefined) return undefined
  const steps = by > 0 ? [...Array(by).fill('pass'), ...(sequence ?? [])] : sequence?.slice(-by)
  return {
    ...when,
    ...(nth !== undefined && { nth: nth + by }),
    ...(first !== undefined && { first: first + by }),
    ...(sequence !== undefined && { sequence: steps?.length === 0 ? sequence.slice(-1) : steps }),
    ...(until?.calls !== undefined && { until: { ...until, calls: until.calls + by } }),
    after: after + by > 0 ? after + by : undefined,
  }
}

/** A rule of the scenario. */
interface Armed {
  rule: FaultRule
  /** The number of requests before it was armed. */
  readonly from: number
  /** The number of them at its instant that it would have counted. */
  readonly before: number
}

/** The later part of a recording as a scenario can express it. Steps act at an instant, before the requests of that instant. */
export class ScenarioTimeline {
  /** What was recorded, one input a line. */
  readonly recorded: string[] = []
  readonly #start: number
  readonly #entries: ReadonlyMap<RecordedInput, LogEntry | undefined>
  readonly #steps: { readonly at: string; readonly work: () => string }[] = []
  /** The rules, by the id that each has in the recording, and all ids of the scenario. */
  readonly #armed = new Map<string, Armed>()
  readonly #ids = new Set<string>()
  /** The requests so far, and the first of the present instant. */
  readonly #requests: RecordedInput[] = []
  #first = 0
  #now = ''

  /** @param entries the log entries of the recorded requests */
  constructor(
    start: number,
    rules: readonly FaultRule[],
    entries: ReadonlyMap<RecordedInput, LogEntry | undefined>,
  ) {
    this.#start = start
    this.#entries = entries
    for (const rule of rules) this.#arm(rule, '0ms')
  }

  /** The steps, each with its function or its actions as source text. */
  get steps(): { readonly at: string; readonly work: string }[] {
    return this.#steps.map(({ at, work }) => ({ at, work: work() }))
  }

  add(input: RecordedInput): void {
    if (input.at !== this.#now) this.#first = this.#requests.length
    this.#now = input.at
    const at = formatDuration(Date.parse(input.at) - this.#start)
    if ('request' in input) {
      this.#requests.push(input)
      this.recorded.push(`${at}  ${titleOf(input)}  ${input.output?.head.split('\n', 1)[0] ?? 'no response'}`)
    } else if ('control' in input) {
      const { route, params, body } = input.control
      const values = Object.values(params).join(' ')
      const given = [route, values, JSON.stringify(body)?.slice(0, 100)].filter(Boolean).join(' ')
      // A refused call has changed nothing.
      if (Number(input.output?.head) < 400)
        this.recorded.push(`${at}  ${given}${this.#repeat(input, at) ? '  timeline' : ''}`)
    }
  }

  /** @returns whether the scenario does what the call did */
  #repeat({ control, output }: RecordedCall, at: string): boolean {
    const reply = output?.text === undefined ? undefined : (JSON.parse(output.text) as JsonObject)
    const { route, params } = control
    if (route === 'DELETE /faults/{id}') return this.#remove(params.id ?? '', at)
    if (route === 'DELETE /faults') {
      const removed = reply?.removed as string[] | undefined
      return removed?.map((id) => this.#remove(id, at)).every(Boolean) === true
    }
    if (route === 'POST /faults' && reply !== undefined) {
      const rules = (Array.isArray(reply.data) ? reply.data : [reply]) as unknown as FaultRule[]
      return rules.map((rule) => this.#arm(rule, at)).every(Boolean)
    }
    const work = this.#requests.length > this.#first ? undefined : workOf(control, reply)
    if (work !== undefined) this.#steps.push({ at, work: () => work })
    return work !== undefined
  }

  #arm(rule: FaultRule, at: string): boolean {
    const before = this.#matches(rule, this.#first)
    const when = moved(rule.when, before)
    if (when === undefined) return false
    // A rule that is removed later may stay in the scenario, with its id.
    let { id } = rule
    while (this.#ids.has(id)) id += '~'
    this.#ids.add(id)
    const armed: Armed = { rule: { ...rule, id, when }, from: this.#requests.length, before }
    this.#armed.set(rule.id, armed)
    this.#steps.push({ at, work: () => JSON.stringify([{ arm: draftOf(armed.rule) }]) })
    return true
  }

  #remove(id: string, at: string): boolean {
    const armed = this.#armed.get(id)
    if (armed === undefined) return false
    this.#armed.delete(id)
    const { rule, from, before } = armed
    if (this.#matches(rule, Math.max(from, this.#first), id) === 0)
      this.#steps.push({ at, work: () => JSON.stringify([{ clear: rule.id }]) })
    // A step would remove it before the requests of this instant.
    else {
      const { until } = rule.when
      const last = Math.min(before + this.#matches(rule, from, id), until?.calls ?? Number.POSITIVE_INFINITY)
      armed.rule = { ...rule, when: { ...rule.when, until: { ...until, calls: last } } }
    }
    return true
  }

  /** The number of requests that a rule would count: another one that fires ends the search. @param own its recorded id */
  #matches({ match }: FaultRule, from: number, own?: string): number {
    return this.#requests.slice(from).filter((input) => {
      const entry = this.#entries.get(input)
      const isStopped = entry?.faults?.fired.some(
        ({ rule }) => rule.id !== own && this.#armed.get(rule.id)?.rule.then !== 'continue',
      )
      if (entry === undefined || isStopped === true) return false
      const { connection, requests_before = 0 } = entry.evidence ?? {}
      const place = connection && { id: connection.id, index: requests_before + 1 }
      return mismatch(match, { ...entry, kind: 'request', resource: null, connection: place }) === undefined
    }).length
  }
}

const MOVES = /^POST \/batches\/\{id\}\/(fail|expire|complete|cleanup)$/

/** The function of a step that does what a call did; undefined for a call that no function can repeat. */
function workOf(
  { route, params, body }: RecordedCall['control'],
  reply: JsonObject | undefined,
): string | undefined {
  const [id, given] = [JSON.stringify(params.id ?? ''), body === undefined ? '' : JSON.stringify(body)]
  const move = route === 'PATCH /batches/{id}' ? 'change' : MOVES.exec(route)?.[1]
  if (move !== undefined) return `({ batches }) => batches.get(${id})?.${move}(${given})`
  const put = (collection: string | undefined, record: object) =>
    `({ sandbox }) => sandbox.put(${JSON.stringify(collection)}, ${JSON.stringify(record)})`
  if (route === 'PUT /state/{collection}/{id}')
    return put(params.collection, { id: params.id, ...(body as object) })
  if (route === 'DELETE /state/{collection}/{id}')
    return `({ sandbox }) => sandbox.delete(${JSON.stringify(params.collection)}, ${id})`
  if (route === 'POST /webhooks' && reply !== undefined) {
    const { has_secret: _, ...webhook } = reply
    return put('webhooks', { ...webhook, secret: (body as JsonObject).secret ?? null })
  }
  return undefined
}
