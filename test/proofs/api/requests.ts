import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { Chance } from '../../../src/core/random.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import type { Api } from '../../../src/server/http/api.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { Connection, type NoResponse, type RawResponse } from './connection.ts'
import { watchCrashes } from './crashes.ts'
import { type ApiDocument, readDocument } from './document.ts'
import { type Generated, generate, learn } from './generate.ts'
import { apiInProcess, respondInProcess } from './in-process.ts'
import { type Broken, judge } from './judge.ts'
import { inWords, toBytes } from './request-wire.ts'
import { proofEmulator } from './sandbox.ts'
import { Memory, type Source } from './valid.ts'

/** Requests between two resets. Resets keep the sandbox small and let a failure be reproduced from its segment. */
const SEGMENT = 500

/** The number of requests; every n-th goes over a socket, and around every n-th the whole state is compared. */
const SIZES = {
  short: { requests: 2_500, httpEvery: 5, digestEvery: 20 },
  long: { requests: 1_000_000, httpEvery: 10, digestEvery: 200 },
} as const satisfies Record<Scale, object>

/** Violations that are reported in full; others are only counted. */
const MAX_COMPLAINTS = 20

const SEED = 20_260_301

interface Run {
  readonly emulator: RunningEmulator
  readonly api: Api
  readonly document: ApiDocument
  readonly connection: Connection
  readonly say: (line: string) => void
  readonly counts: Counts
}

class Counts {
  http = 0
  inProcess = 0
  valid = 0
  mutated = 0
  succeeded = 0
  limited = 0
  unanswered = 0
  changed = 0
  digests = 0
  complaints = 0
  readonly statuses = new Map<number, number>()
  readonly broken = new Map<Broken, number>()
  readonly operations = new Map<string, number>()
}

export const f1: Proof = {
  id: 'F1',
  promise:
    'No generated request, valid or mutated, ends the emulator or gets an unexpected 5xx or a response that its description forbids, and a refused request changes nothing.',
  run: (scale, say) => runRequests(SIZES[scale], say),
}

export async function runRequests(
  size: { readonly requests: number; readonly httpEvery: number; readonly digestEvery: number },
  say: (line: string) => void,
  seed = SEED,
): Promise<readonly Figure[]> {
  const crashes = watchCrashes()
  const { emulator, defects } = await proofEmulator({
    settings: { 'limits.overrides': [{ operation: 'data-views.list', limit: 3, window_s: 60 }] },
  })
  const started = performance.now()
  const run = await prepare(emulator, say)
  try {
    await emulator.sandboxes.open('other')
    const starts = emulator.sandboxes.list().map(({ sandbox }) => ({ sandbox, state: sandbox.capture() }))
    for (let segment = 0; segment * SEGMENT < size.requests; segment++) {
      for (const { sandbox, state } of starts) sandbox.replaceWith(state)
      const count = Math.min(SEGMENT, size.requests - segment * SEGMENT)
      await runSegment(run, { seed, segment, count, ...size })
      if (segment % 100 === 99) say(`F1: ${(segment + 1) * SEGMENT} requests`)
    }
    const seconds = (performance.now() - started) / 1000
    if (defects.length > 0) say(`F1: the emulator reported an internal error: ${String(defects[0])}`)
    return [
      ...figures(run.counts, seed, seconds),
      none('uncaught errors', crashes.exceptions.length),
      none('unhandled rejections', crashes.rejections.length),
      none('internal errors reported by the emulator', defects.length),
    ]
  } finally {
    run.connection.close()
    await emulator.close()
    crashes.stop()
  }
}

async function prepare(emulator: RunningEmulator, say: (line: string) => void): Promise<Run> {
  const response = await fetch(`${emulator.controlUrl}/openapi.json?api=workspace`)
  const connection = new Connection(emulator.port)
  return {
    emulator,
    api: apiInProcess(emulator),
    document: readDocument(await response.json()),
    connection,
    say,
    counts: new Counts(),
  }
}

interface Segment {
  readonly seed: number
  readonly segment: number
  readonly count: number
  readonly httpEvery: number
  readonly digestEvery: number
}

async function runSegment(
  run: Run,
  { seed, segment, count, httpEvery, digestEvery }: Segment,
): Promise<void> {
  const { sandbox, port } = run.emulator
  const chance = new Chance(seed, 'requests', segment)
  const source: Source = { sandbox, memory: new Memory(), chance }
  for (let n = 0; n < count; n++) {
    const generated = generate(run.document, source, port)
    advanceTo(sandbox, sandbox.clock.now + generated.ms)
    await one(run, generated, {
      viaHttp: n % httpEvery === 0 || !run.api.owns(generated.sent.target),
      digest: chance.int(1, digestEvery) === 1,
      source,
      where: `seed ${seed}, segment ${segment}, request ${n}, ${generated.mutations}`,
    })
  }
}

interface Manner {
  readonly viaHttp: boolean
  /** Whether the whole state is compared, or only the revision. */
  readonly digest: boolean
  readonly source: Source
  readonly where: string
}

async function one(
  run: Run,
  { sent, isValid, operation }: Generated,
  { viaHttp, digest, source, where }: Manner,
): Promise<void> {
  const { emulator, api, document, connection, counts } = run
  const before = digest ? digestOf(emulator) : undefined
  const revision = revisionOf(emulator)
  const response: RawResponse | NoResponse = viaHttp
    ? await connection.exchange(toBytes(sent), sent.method === 'HEAD')
    : await respondInProcess(api, sent)
  counts[viaHttp ? 'http' : 'inProcess'] += 1
  counts[isValid ? 'valid' : 'mutated'] += 1
  counts.operations.set(operation, (counts.operations.get(operation) ?? 0) + 1)
  const complain = (what: string): void => {
    counts.complaints += 1
    if (counts.complaints > MAX_COMPLAINTS) return
    run.say(`F1: ${what}\n  ${where}${viaHttp ? ', HTTP' : ''}\n  ${inWords(sent)}`)
  }
  if (typeof response === 'string') {
    counts.unanswered += 1
    complain(`no response: ${response}`)
    return
  }
  counts.statuses.set(response.status, (counts.statuses.get(response.status) ?? 0) + 1)
  if (response.status < 300 && isValid) counts.succeeded += 1
  if (response.status === 429) counts.limited += 1
  for (const { broken, detail } of judge(document, sent, response, isValid)) {
    counts.broken.set(broken, (counts.broken.get(broken) ?? 0) + 1)
    complain(`${broken}: ${detail}`)
  }
  if (response.status >= 400) {
    if (before !== undefined) counts.digests += 1
    if (revisionOf(emulator) !== revision || (before !== undefined && before !== digestOf(emulator))) {
      counts.changed += 1
      complain(`a ${response.status} changed the sandbox`)
    }
  }
  learn(source, { operation, sent }, response.status, response.text)
}

/** Increases with every commit of any sandbox, and with every new sandbox. */
function revisionOf({ sandboxes }: RunningEmulator): number {
  return sandboxes.list().reduce((sum, { sandbox }) => sum + sandbox.store.revision + 1, 0)
}

function digestOf({ sandboxes }: RunningEmulator): string {
  const hash = createHash('sha256')
  for (const { sandbox } of sandboxes.list()) {
    const { limits: _, counters, ...rest } = sandbox.document()
    hash.update(JSON.stringify({ ...rest, counters: { ...counters, requests: 0 } }))
  }
  return hash.digest('hex')
}

const KINDS: readonly (readonly [kind: Broken, what: string])[] = [
  ['unsolicited 5xx', 'unsolicited 5xx'],
  ['response schema', 'responses that violate their schema'],
  ['error form', 'errors of another form, or of valid requests'],
  ['headers', 'responses with missing or wrong headers'],
  ['accepted', 'accepted requests that the document forbids'],
]

function figures(counts: Counts, seed: number, seconds: number): Figure[] {
  const statuses = [...counts.statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`)
  const total = counts.http + counts.inProcess
  const succeeded = (100 * counts.succeeded) / counts.valid
  return [
    tried('seed', seed),
    tried('requests over HTTP', counts.http),
    tried('requests in process', counts.inProcess),
    tried('valid', counts.valid),
    tried('mutated', counts.mutated),
    tried('statuses', statuses.join(', ')),
    tried('sandbox digests compared before and after refusals', counts.digests),
    tried('requests per second', Math.round(total / seconds)),
    atLeast('operations called', counts.operations.size, workspaceService.operations.size),
    atLeast('percent of valid requests that succeeded', Math.round(succeeded), 60),
    atLeast('responses with 429', counts.limited, 1),
    none('requests without a response', counts.unanswered),
    ...KINDS.map(([kind, what]) => none(what, counts.broken.get(kind) ?? 0)),
    none('refused requests that changed the sandbox', counts.changed),
  ]
}
