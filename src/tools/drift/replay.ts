import type { Settings } from '../../core/assumptions.ts'
import { FixturesError } from '../../core/fixtures-error.ts'
import { isObject, type Json, type JsonObject, valueAt } from '../../core/json.ts'
import type { Arrow } from '../../core/lifecycle.ts'
import { inputOf } from '../../core/operation.ts'
import { change } from '../../core/sandboxes/change.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { advanceTo } from '../../core/time/run-events.ts'
import type { RunningEmulator } from '../../emulator/emulator.ts'
import { byName, exchangeOf, type HarExchange } from './har.ts'
import { Ids } from './ids.ts'
import { credentialOf, credentialsOf, type HarRecording, type HarRequest, tokenOf } from './recording.ts'

/** The answer of the emulator to a recorded request, or why there is none to compare. */
export type EmulatedAnswer =
  | {
      readonly exchange: HarExchange
      /** The recorded body with the ids of the sandbox. */
      readonly expected: Json | undefined
      readonly assumed: readonly string[]
    }
  | string

/** Sends a request to the emulator. Tests put another answer in its place. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>

/** The headers of a request that can change the answer. */
const SENT = ['content-type', 'idempotency-key']

/** Repeats a recording in a new sandbox, and returns an answer for each exchange. @param fixtures its start */
export async function repeatRecording(
  recording: HarRecording,
  fixtures: object,
  settings: Settings,
  emulator: RunningEmulator,
  send: SendRequest = emulator.fetch,
): Promise<EmulatedAnswer[]> {
  const { sandboxes } = emulator
  const first = recording.recorded[0]?.exchange.start || 0
  const name = `drift-${sandboxes.list().length}`
  const time = { clock: formatInstant(first), rate: 0, seed: 1 }
  const origin = {
    ...time,
    fixtures: fixtures as JsonObject,
    settings: settings.overrides as JsonObject,
  }
  const sandbox = await sandboxes.create(name, origin, false).catch((error: unknown) => {
    if (!(error instanceof FixturesError)) throw error
  })
  if (sandbox === undefined) return recording.recorded.map(() => 'its records do not fit the document')
  try {
    const repetition = new Repetition(recording, sandbox, send)
    const answers: EmulatedAnswer[] = []
    for (const each of recording.recorded) answers.push(await repetition.repeat(each))
    return answers
  } finally {
    await sandboxes.delete(name)
  }
}

class Repetition {
  readonly #sandbox: Sandbox
  readonly #send: SendRequest
  readonly #credentials: readonly string[]
  readonly #ids = new Ids()
  /** The recorded states of each record, in order. */
  readonly #states = new Map<string, string[]>()

  constructor(recording: HarRecording, sandbox: Sandbox, send: SendRequest) {
    this.#sandbox = sandbox
    this.#send = send
    this.#credentials = credentialsOf(recording)
    for (const { exchange } of recording.recorded) {
      const { id, status } = isObject(exchange.received) ? exchange.received : {}
      if (typeof id !== 'string' || typeof status !== 'string') continue
      this.#states.set(id, [...(this.#states.get(id) ?? []), status])
    }
    for (const name of sandbox.service.collections.keys())
      for (const id of sandbox.store.rows(name).keys()) this.#ids.known.add(id)
    for (const { table } of sandbox.service.lifecycles)
      for (const id of sandbox.store.rows(table).keys()) this.#act(id, [])
  }

  async repeat(each: HarRequest): Promise<EmulatedAnswer> {
    const { har, exchange, path, params } = each
    const { declared, status, sent } = exchange
    const { clock } = this.#sandbox
    if (status === 429) return 'refused by a rate limit, which the emulator does not repeat'
    const needsBody = inputOf(declared, this.#sandbox.settings).body !== undefined
    if (needsBody && sent === undefined && status < 300 && (har.request.postData.size ?? 1) !== 0)
      return 'request without its body'
    if (exchange.start > clock.now) advanceTo(this.#sandbox, exchange.start)
    this.#follow(each)
    const headers = byName(har.request.headers)
    const usual = sent === undefined ? {} : { 'content-type': 'application/json' }
    const kept = SENT.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
    const token = tokenOf(this.#credentials, credentialOf(har))
    const response = await this.#send(`http://localhost/v1${this.#ids.target(path, har.request.url)}`, {
      method: har.request.method,
      headers: {
        ...usual,
        ...Object.fromEntries(kept),
        'x-emulator-sandbox': this.#sandbox.name,
        ...(status !== 401 && { authorization: `Bearer ${token}` }),
      },
      ...(har.request.postData.text && {
        body: sent === undefined ? har.request.postData.text : JSON.stringify(this.#ids.inside(sent)),
      }),
    })
    const text = await response.text()
    const answer = exchangeOf(exchange.entry, har, declared, {
      status: response.status,
      headers: [...response.headers].map(([name, value]) => ({ name, value })),
      content: { text, size: Buffer.byteLength(text) },
    })
    for (const id of this.#ids.bind(exchange.received, answer.received)) this.#act(id, [])
    const isKnown = (id: string) => this.#ids.known.has(this.#ids.of(id))
    const ids = Object.values(params)
    if (status < 300 && response.status === 404 && !(ids.length > 0 && ids.every(isKnown)))
      return 'about a record whose first state the recording does not show'
    if (status < 300 && [401, 403].includes(response.status))
      return 'needs a permission that the recording does not show'
    const expected = exchange.received && this.#ids.inside(exchange.received)
    return { exchange: answer, expected, assumed: this.#sandbox.log.entries().at(-1)?.assumed ?? [] }
  }

  /** Moves the record of a request to the state that the recorded response shows. */
  #follow({ exchange, params }: HarRequest): void {
    const { declared, status, received } = exchange
    const { resources } = this.#sandbox.service
    const owner = resources.find(({ operations }) => operations.includes(declared))
    const [recorded = ''] = Object.values(params)
    const id = this.#ids.of(recorded)
    for (const { table, arrows } of owner?.lifecycles ?? []) {
      const state = valueAt(this.#sandbox.store.get(table, id), ['status'])
      if (typeof state !== 'string') continue
      const isAct = arrows.some(({ on }) => declared.name.endsWith(`.${on}`))
      const hasEnded = isAct ? status === 409 : declared.results !== undefined && [200, 410].includes(status)
      const wanted = hasEnded ? this.#endOf(recorded, arrows) : isAct ? state : valueAt(received, ['status'])
      this.#act(id, pathTo(arrows, state, String(wanted)))
      if (declared.results !== undefined && status === 410) this.#act(id, ['cleanup'])
    }
  }

  #endOf(recorded: string, arrows: readonly Arrow[]): string {
    const isEnd = (state: string) => !arrows.some(({ from, to }) => from === state && to !== state)
    const usual = arrows.filter(
      ({ from, to }, n) => to !== from && arrows.findIndex((each) => each.from === from) === n,
    )
    return this.#states.get(recorded)?.find(isEnd) ?? usual.find(({ to }) => isEnd(to))?.to ?? ''
  }

  #act(id: string, actions: readonly string[]): void {
    for (const { act } of this.#sandbox.service.lifecycles)
      if (act !== undefined)
        for (const action of [...actions, 'hold'])
          change(this.#sandbox, (scope) => act(scope, id, action), 'drift')
  }
}

/** The actions that lead from a state to another one; none where no way leads there. */
function pathTo(arrows: readonly Arrow[], from: string, to: string): string[] {
  const ways: [state: string, actions: string[]][] = [[from, []]]
  for (const [state, actions] of ways) {
    if (state === to) return actions
    for (const arrow of arrows)
      if (arrow.from === state && !ways.some(([known]) => known === arrow.to))
        ways.push([arrow.to, [...actions, arrow.on]])
  }
  return []
}
