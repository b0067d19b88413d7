import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Settings } from '../../core/assumptions.ts'
import { readRetryAfter } from '../../core/conduct/observed.ts'
import { elapsedTime, hostTime } from '../../core/time/clock.ts'
import { MINUTE, SECOND } from '../../core/time/instant.ts'
import { type Cancel, later } from '../../core/time/realtime.ts'
import { counted } from '../../core/words.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { codeOf } from '../../terminal/print.ts'
import type { DriftDifference } from './blame.ts'
import { documentIssues, ofAnyItem } from './checks.ts'
import { harContent, type LiveService, requestTo } from './connection.ts'
import { byName, exchangeOf, type HarExchange } from './har.ts'
import { Ids } from './ids.ts'
import type { HarRecording, HarRequest } from './recording.ts'
import { shapeOf, unlikeIn } from './shape.ts'

/** The longest wait that a 429 may ask for, and how often a request is sent again. */
const [MAX_WAIT, RETRIES] = [60 * SECOND, 2]

/** Real milliseconds after which no further request is sent. */
const MAX_TIME = 5 * MINUTE

/** A value that hides a secret or a text of a person: sent, it would ask for something else. */
const SANITISED = /redacted|removed|\*{3}|secret-\d+-*|%5B[a-z_-]+%5D|<[a-z_-]+>/i

interface LiveOptions {
  readonly writes: boolean
  /** The most requests. */
  readonly budget: number
}

/** What the service answers now. */
export interface LiveResult {
  readonly differences: readonly DriftDifference[]
  /** Number of requests, and of those whose answers were compared. */
  readonly sent: number
  readonly compared: number
  readonly notes: readonly string[]
}

type Answered = readonly [HarExchange, HarExchange]

/** Sends the recorded reads to the service, one at a time, and compares its answers with the recorded ones. */
export async function compareLive(
  recordings: readonly HarRecording[],
  service: LiveService,
  settings: Settings,
  options: LiveOptions,
): Promise<LiveResult> {
  const client = new LiveClient(service, options)
  const skipped: Record<string, number> = {}
  const differences: DriftDifference[] = []
  const gone: DriftDifference[] = []
  // The recordings of several weeks have the same reads: each is sent once.
  const seen = new Set<string>()
  let compared = 0
  for (const { file, recorded } of recordings) {
    const answered = new Map<string, Answered[]>()
    const ids = new Ids()
    for (const each of recorded) {
      const target = ids.target(each.path, each.har.request.url)
      const reason = client.whyNot(each, target, seen) ?? (await client.send(each, target, ids))
      if (typeof reason === 'string') {
        skipped[reason] = (skipped[reason] ?? 0) + 1
        continue
      }
      const { exchange } = each
      const { entry, request, declared, status } = exchange
      const isRead = status < 300
      const of = (detail: string, kind: string) =>
        ({ blame: 'service', file, entry, request, detail, kind }) as const
      if (isRead && [401, 403, 404, 410].includes(reason.status)) {
        gone.push(of(`status: ${reason.status} instead of ${status}`, 'gone'))
        continue
      }
      // Another state of the record explains an answer to what was refused.
      if (!isRead && reason.status !== status) continue
      compared += 1
      if (reason.status !== status)
        differences.push(of(`status: ${reason.status} instead of ${status}`, 'changed'))
      else {
        const key = `${declared.name} ${status}`
        answered.set(key, [...(answered.get(key) ?? []), [exchange, reason]])
      }
    }
    for (const pairs of answered.values())
      for (const each of changesIn(pairs, settings)) differences.push({ ...each, file })
  }
  // Records come and go; a service that has none of them any more, or refuses the key, has changed.
  if (compared === 0) for (const each of gone) differences.push(each)
  else if (gone.length > 0) skipped['record gone'] = gone.length
  const notes = Object.entries(skipped).map(([reason, count]) => `${count} not compared: ${reason}`)
  return {
    differences,
    sent: client.sent,
    compared,
    notes: [`${counted(client.sent, 'request')} to ${service.origin}`, ...notes],
  }
}

/** The differences between all recorded answers of an operation and those of the service. */
function* changesIn(pairs: readonly Answered[], settings: Settings): Iterable<Omit<DriftDifference, 'file'>> {
  const [[first]] = pairs as [Answered]
  const bodies = (n: 0 | 1) =>
    pairs.flatMap((pair) => (pair[n].received === undefined ? [] : [pair[n].received]))
  const of = (detail: string, kind: string) =>
    ({ blame: 'service', entry: first.entry, request: first.request, detail, kind }) as const
  const places = unlikeIn(shapeOf(bodies(0)), shapeOf(bodies(1)))
  for (const { at, kind, detail } of places)
    if (!detail.includes(' word ') || kind !== 'changed') yield of(`body ${at}: ${detail}`, kind)
  const before = new Set(
    pairs.flatMap(([recorded]) => documentIssues(recorded, settings, true).map(ofAnyItem)),
  )
  const now = new Set(pairs.flatMap(([, live]) => documentIssues(live, settings, false).map(ofAnyItem)))
  for (const detail of now)
    if (!before.has(detail) && !places.some(({ at }) => detail.includes(` ${at}:`)))
      yield of(detail, 'changed')
}

class LiveClient {
  readonly #service: LiveService
  readonly #options: LiveOptions
  readonly #end = elapsedTime() + MAX_TIME
  #isOver = false
  sent = 0

  constructor(service: LiveService, options: LiveOptions) {
    this.#service = service
    this.#options = options
  }

  /** Why a recorded request is not sent. */
  whyNot({ exchange, har, isCompared }: HarRequest, target: string, seen: Set<string>): string | undefined {
    const isRead = ['GET', 'HEAD'].includes(har.request.method)
    if (!isRead && !this.#options.writes) return 'a write, without --writes'
    if (!isCompared) return 'an operation without a contract'
    if (exchange.missing !== undefined) return `recorded without its body: ${exchange.missing}`
    if ([401, 403, 429].includes(exchange.status)) return 'recorded as refused'
    if (SANITISED.test(target)) return 'a sanitised path or query'
    if (isRead && seen.has(target)) return 'the same read again'
    seen.add(target)
    if (this.sent >= this.#options.budget) return 'beyond the budget of requests'
    return this.#isOver || elapsedTime() >= this.#end ? 'after the end of the run' : undefined
  }

  /** The answer of the service, or why it is no evidence. */
  async send({ exchange, har }: HarRequest, target: string, ids: Ids): Promise<HarExchange | string> {
    const { sent, declared, entry } = exchange
    const body = sent === undefined ? undefined : JSON.stringify(ids.inside(sent))
    for (let tries = 0; ; tries++) {
      const { response, content } = await this.#ask(har.request.method, target, body, exchange.key)
      const { statusCode: status = 0, headers } = response
      const pairs = Object.entries(headers).map(([name, value]) => ({ name, value: String(value) }))
      const answer = exchangeOf(entry, har, declared, { status, headers: pairs, content })
      if (status >= 500) return `failure of the server (${status})`
      if (status !== 429) {
        ids.bind(exchange.received, answer.received)
        return answer.missing === 'body left out, or only in part' ? 'a body that cannot be decoded' : answer
      }
      const { due: wait = SECOND } = readRetryAfter(byName(pairs)['retry-after'] ?? '', hostTime())
      if (wait > MAX_WAIT || elapsedTime() + wait > this.#end) {
        this.#isOver = true
        return 'refused by a rate limit (429), which ended the run'
      }
      if (tries >= RETRIES) return 'refused by a rate limit (429)'
      await new Promise<void>((resolve) => void later(wait, resolve))
    }
  }

  async #ask(method: string, target: string, body: string | undefined, key: string | undefined) {
    this.sent += 1
    const { origin, key: token } = this.#service
    let cancel: Cancel | undefined
    try {
      const request = requestTo(this.#service, target, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: '*/*',
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
          ...(key !== undefined && { 'idempotency-key': `${key}-${hostTime()}` }),
        },
      })
      cancel = later(MAX_WAIT, () => void request.destroy(new Error('no answer in 60 s')))
      request.end(body)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const { headers } = response
      return {
        response,
        content: harContent(Buffer.concat(chunks), headers['content-encoding'], headers['content-type']),
      }
    } catch (error) {
      throw new CommandFailed(
        `${origin} cannot be reached (${codeOf(error)}). Check --against and the network.`,
      )
    } finally {
      cancel?.()
    }
  }
}
