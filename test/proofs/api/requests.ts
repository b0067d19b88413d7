import { createHash } from 'node:crypto'
import { Chance } from '../../../src/core/random.ts'
import { advanceTo } from '../../../src/core/time/run-events.ts'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { Connection, openSocket } from './connection.ts'
import { type ApiDocument, readDocument } from './document.ts'
import { type Generated, generate, learn } from './generate.ts'
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

export const f1: Proof = {
  id: 'F1',
  promise:
    'No generated request, valid or mutated, ends the emulator or gets an unexpected 5xx or a response that its description forbids, and a refused request changes nothing.',
  run: async (scale, say) => {
    const { requests, httpEvery, digestEvery } = SIZES[scale]
    const { emulator, defects } = await proofEmulator({
      settings: { 'limits.overrides': [{ operation: 'data-views.list', limit: 3, window_s: 60 }] },
    })
    // Each of these errors would end a process of the emulator.
    const crashes: unknown[] = []
    const onCrash = (error: unknown): void => void crashes.push(error)
    const events = ['unhandledRejection', 'uncaughtException']
    for (const event of events) process.on(event, onCrash)
    const response = await fetch(`${emulator.controlUrl}/openapi.json?api=workspace`)
    const run = new Run(emulator, readDocument(await response.json()), say)
    const { sandbox, port } = emulator
    const started = performance.now()
    try {
      await emulator.sandboxes.open('other')
      const starts = emulator.sandboxes.list().map((each) => ({ ...each, state: each.sandbox.capture() }))
      for (let n = 0; n < requests; n += SEGMENT) {
        for (const start of starts) start.sandbox.replaceWith(start.state)
        const segment = n / SEGMENT
        const chance = new Chance(SEED, 'requests', segment)
        const source: Source = { sandbox, memory: new Memory(), chance }
        for (let m = 0; m < Math.min(SEGMENT, requests - n); m++) {
          const generated = generate(run.document, source, port)
          advanceTo(sandbox, sandbox.clock.now + generated.ms)
          const where = `segment ${segment}, request ${m}, ${generated.mutations}`
          await run.one(generated, source, m % httpEvery === 0, chance.int(1, digestEvery) === 1, where)
        }
        if (segment % 100 === 99) say(`F1: ${n + SEGMENT} requests`)
      }
      if (defects.length > 0) say(`F1: the emulator reported an internal error: ${String(defects[0])}`)
      return [
        ...run.figures((performance.now() - started) / 1_000),
        none('uncaught errors and unhandled rejections', crashes.length),
        none('internal errors reported by the emulator', defects.length),
      ]
    } finally {
      run.close()
      await emulator.close()
      for (const event of events) process.off(event, onCrash)
    }
  },
}

const KINDS: Readonly<Record<Broken, string>> = {
  'unsolicited 5xx': 'unsolicited 5xx',
  'response schema': 'responses that violate their schema',
  'error form': 'errors of another form, or of valid requests',
  headers: 'responses with missing or wrong headers',
  accepted: 'accepted requests that the document forbids',
}

class Run {
  readonly document: ApiDocument
  readonly #emulator: RunningEmulator
  readonly #say: (line: string) => void
  readonly #socket: Connection
  readonly #memory: Connection
  #complaints = 0
  readonly #counts = new Map<string, number>()
  readonly #statuses = new Map<number, number>()
  readonly #operations = new Set<string>()

  constructor(emulator: RunningEmulator, document: ApiDocument, say: (line: string) => void) {
    this.#emulator = emulator
    this.document = document
    this.#say = say
    this.#socket = new Connection(() => openSocket(emulator.port))
    this.#memory = new Connection(async () => (await emulator.connect('proof')).socket)
  }

  close(): void {
    this.#socket.close()
    this.#memory.close()
  }

  /** @param isDigested whether the whole state is compared, or only the revision */
  async one(
    { sent, isValid, operation }: Generated,
    source: Source,
    viaSocket: boolean,
    isDigested: boolean,
    where: string,
  ): Promise<void> {
    const stateOf = () => (isDigested ? digestOf(this.#emulator) : '') + revisionOf(this.#emulator)
    const before = stateOf()
    const connection = viaSocket ? this.#socket : this.#memory
    const response = await connection.exchange(toBytes(sent), sent.method === 'HEAD')
    this.#count(viaSocket ? 'socket' : 'memory')
    this.#count(isValid ? 'valid' : 'mutated')
    this.#operations.add(operation)
    const complain = (kind: string, what: string): void => {
      this.#count(kind)
      this.#complaints += 1
      if (this.#complaints > MAX_COMPLAINTS) return
      this.#say(`F1: ${kind}: ${what}\n  ${where}${viaSocket ? ', socket' : ''}\n  ${inWords(sent)}`)
    }
    if (typeof response === 'string') return complain('unanswered', response)
    const { status, text } = response
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    if (status < 300 && isValid) this.#count('succeeded')
    for (const { broken, detail } of judge(this.document, sent, response, isValid)) complain(broken, detail)
    if (status >= 400 && isDigested) this.#count('digests')
    if (status >= 400 && stateOf() !== before) complain('changed', `a ${status} changed the sandbox`)
    learn(source, { operation, sent }, status, text)
  }

  figures(seconds: number): Figure[] {
    const of = (name: string) => this.#counts.get(name) ?? 0
    const statuses = [...this.#statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`)
    const succeeded = Math.round((100 * of('succeeded')) / of('valid'))
    return [
      tried('seed', SEED),
      tried('requests over a socket', of('socket')),
      tried('requests over a connection in memory', of('memory')),
      tried('valid', of('valid')),
      tried('mutated', of('mutated')),
      tried('statuses', statuses.join(', ')),
      tried('sandbox digests compared before and after refusals', of('digests')),
      tried('requests per second', Math.round((of('socket') + of('memory')) / seconds)),
      atLeast('operations called', this.#operations.size, workspaceService.operations.size),
      atLeast('percent of valid requests that succeeded', succeeded, 60),
      atLeast('responses with 429', this.#statuses.get(429) ?? 0, 1),
      none('requests without a response', of('unanswered')),
      ...Object.entries(KINDS).map(([kind, what]) => none(what, of(kind))),
      none('refused requests that changed the sandbox', of('changed')),
    ]
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }
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
