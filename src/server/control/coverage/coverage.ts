import { type Json, parsedJson } from '../../../core/json.ts'
import type { LogEntry, WholeBodies } from '../../../core/log/request-log.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { Service } from '../../../core/service.ts'
import type { Change } from '../../../core/state/commit.ts'
import { deliveries } from '../../../core/webhooks/records.ts'
import { type Contract, contractOf, idsIn, pointId } from './points.ts'
import type { CoveredPoint } from './report.ts'

/** Responses that are read together; until then their bodies stay in memory, each at most 16 KiB. */
const MAX_UNREAD = 100

/** Notes which points of the contract the clients of an emulator have met, in all its sandboxes, deleted ones included. */
export class Coverage {
  readonly #service: Service
  #contract: Contract
  readonly #met = new Map<string, 'service' | 'fault'>()
  /** Exchanges whose response is complete only after it has been sent: a stream, or one that faults may have changed. */
  #unread: LogEntry[] = []

  constructor(service: Service) {
    this.#service = service
    this.#contract = contractOf(service)
  }

  /** Reads the contract again: operations of users have changed. */
  refresh(): void {
    this.#readAll()
    this.#contract = contractOf(this.#service)
  }

  /** Follows a sandbox from now on. */
  watch({ log, store }: Pick<Sandbox, 'log' | 'store'>): void {
    log.onEntry((entry, bodies) => this.#note(entry, bodies))
    store.onCommit(({ changes }) => {
      for (const change of changes) this.#follow(change)
    })
  }

  /** Notes what the log of a sandbox still has, for a count that begins later than the sandbox. */
  addPast({ log }: Pick<Sandbox, 'log'>): void {
    for (const entry of log.entries()) {
      const request = entry.body.kind === 'json' ? entry.body.value : undefined
      this.#note(entry, { request, response: undefined })
      for (const change of entry.commit?.changes ?? []) this.#follow(change)
    }
  }

  /** Every point of the contract, the cheapest first. */
  points(): readonly CoveredPoint[] {
    this.#readAll()
    return this.#contract.points.map((point) => ({ ...point, met: this.#met.get(point.id) ?? null }))
  }

  #note(entry: LogEntry, { request, response }: WholeBodies): void {
    const { operation, error, query, headers: header } = entry
    if (operation === undefined || entry.added?.stub !== undefined) return
    this.#meet(this.#idsIn(operation, { query, header, body: request }))
    if (error !== undefined) this.#meet([pointId.error(error.code)], byOf(entry))
    if (byOf(entry) === 'service' && response !== undefined) {
      this.#meet([statusId(entry), ...this.#idsIn(operation, { response })])
      return
    }
    entry.response?.hold()
    this.#unread.push(entry)
    if (this.#unread.length >= MAX_UNREAD) this.#readAll()
  }

  #readAll(): void {
    for (const entry of this.#unread.splice(0)) {
      const { operation = '', response } = entry
      const { status, body } = response?.show() ?? { status: 0, body: null }
      const values = valuesIn(body ?? '').flatMap((value) => this.#idsIn(operation, { response: value }))
      this.#meet([statusId({ ...entry, status }), ...values], byOf(entry))
    }
  }

  #follow({ table, before, after }: Change): void {
    const [was, is] = [before, after] as ({ readonly status?: string; readonly type?: string } | undefined)[]
    if (is?.status === undefined || was?.status === is.status) return
    if (table === deliveries.name && is.status === 'delivered') this.#meet([pointId.event(is.type ?? '')])
    if (was?.status !== undefined) this.#meet([pointId.transition(table, was.status, is.status)])
  }

  #idsIn(operation: string, exchanged: object): string[] {
    return idsIn(this.#contract.values.get(operation) ?? [], exchanged)
  }

  #meet(ids: readonly string[], by: 'service' | 'fault' = 'service'): void {
    for (const id of ids) if (this.#met.get(id) !== 'service') this.#met.set(id, by)
  }
}

// A function of a user may respond with any success, of which the contract has one.
function statusId({ operation = '', status, added }: LogEntry): string {
  const isSuccess = status >= 200 && status < 300
  return pointId.status(operation, isSuccess && typeof added?.success === 'number' ? added.success : status)
}

/** Whether a fault rule has changed an exchange. */
function byOf({ faults }: LogEntry): 'service' | 'fault' {
  return (faults?.fired.length ?? 0) > 0 ? 'fault' : 'service'
}

/** The values of a body and of its lines. What is not JSON is left out. */
function valuesIn(body: string): Json[] {
  const values = [body, ...body.split(/\r?\n/)].map(parsedJson)
  return values.filter((value) => value !== undefined) as Json[]
}
